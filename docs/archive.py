"""Large generated files are in the repository as archives, which `make site` unpacks.

`docs/reports.tar.xz` has the reports of the full studies; `docs/images/aqm.tar.xz` and
`docs/images/rfc7928.tar.xz` have a picture each for every discipline of `docs/algorithms.md`. Equal
files give equal archives.

    python docs/archive.py pack FOLDER ARCHIVE [PATTERN]
    python docs/archive.py unpack ARCHIVE FOLDER
"""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

REPORTS = Path(__file__).with_name("reports.tar.xz")
PORTRAITS = Path(__file__).parent / "images" / "aqm.tar.xz"
PICTURES = Path(__file__).parent / "images" / "rfc7928.tar.xz"


def read(archive: Path) -> dict[str, bytes]:
    """Name and bytes of every file in an archive; empty if there is no archive."""
    if not archive.exists():
        return {}
    with tarfile.open(archive, "r:xz") as tar:
        files = {member.name: tar.extractfile(member) for member in tar if member.isfile()}
        return {name: file.read() for name, file in files.items() if file is not None}


def write(archive: Path, files: Mapping[str, bytes]) -> None:
    """Writes the archive of these files in the order of their names, without dates and owners."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            about = tarfile.TarInfo(name)
            about.size = len(files[name])
            tar.addfile(about, io.BytesIO(files[name]))
    text = {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "lc": 4,
        "pb": 0,
        "nice_len": 273,
    }
    archive.write_bytes(lzma.compress(packed.getvalue(), filters=[text]))


def add(archive: Path, files: Mapping[str, bytes]) -> None:
    """Adds these files to the archive; files of equal names are replaced."""
    write(archive, read(archive) | files)


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Writes the archive's files into a folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in read(archive).items():
        path = folder / Path(name).name  # only the last part: no path leads out of `folder`
        path.write_bytes(content)
        written.append(path)
    return written


def main(arguments: list[str]) -> int:
    """Packs or unpacks the archive that the command line names."""
    match arguments:
        case ["pack", folder, archive, *pattern]:
            found = Path(folder).glob(pattern[0] if pattern else "*")
            files = {p.name: p.read_bytes() for p in found if p.is_file() and p.suffix != ".xz"}
            write(Path(archive), files)
        case ["unpack", archive, folder]:
            unpack(Path(archive), Path(folder))
        case _:
            print((__doc__ or "").strip().partition("\n\n    ")[2], file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
