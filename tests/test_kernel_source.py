"""Which kernel the comparison with Linux builds."""

from pathlib import Path

from validation.linux import machine


def test_the_newest_source_is_the_one_of_the_greatest_numbers():
    archives = [Path(f"/usr/src/linux-source-{of}.tar.xz") for of in ("6.9", "6.12", "6.1")]
    assert max(map(machine.version, archives), key=machine.numbers) == "6.12"
