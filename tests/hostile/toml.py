"""TOML that is none, that no parser's stack or number holds, or that is no scenario."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import tomlkit

from .names import SCENARIO, encodable, name
from .oracle import command

PLAIN = tomlkit.dumps(SCENARIO)


def digits(random: Random) -> str:
    """Numbers that are too large, too long, or none."""
    length = random.choice([1, 18, 19, 20, 39, 300, 309, 4299, 4300, 4301, 5000, 20_000])
    known = ["9" * length, "-" + "9" * length, "0x" + "f" * length, "0b" + "1" * length]
    known += [
        "1" + "0" * length + ".5",
        f"1e{length}",
        f"-1e-{length}",
        "nan",
        "-inf",
        "+0",
        "-0.0",
    ]
    known += ["1_000", "07", "1979-05-27T07:32:00Z", "0000-00-00", "25:61:61", "true", '""']
    known += [f'"{"9" * length} s"', f'"1e{length} Mbit/s"', f'"{"1" * length}%"']
    return random.choice(known)


def nested(random: Random) -> str:
    depth = random.choice([10, 49, 50, 51, 100, 127, 128, 200, 1000, 2000, 5000, 50_000])
    if random.random() < 0.4:
        depth = min(depth, 5000)  # tables are parsed in quadratic time
        key = random.choice(["a", '"a b"', "link", "network"])
        dotted = ".".join([key] * min(depth, 2000))
        return random.choice([f"{dotted} = 1", f"[{dotted}]", f"[[{dotted}]]"])
    opening, closing = random.choice([("[", "]"), ("{a=", "}"), ("[{a=", "}]")])
    end = closing * random.choice([depth, depth, depth - 1])
    return f"{random.choice(['x', 'network', 'traffic', 'name'])} = {opening * depth}1{end}"


def mutated(random: Random) -> bytes:
    """Some bytes of a good file changed, moved or left out."""
    text = bytearray(PLAIN.encode())
    for _ in range(random.choice([1, 1, 2, 4, 16])):
        place = random.randrange(len(text))
        how = random.randrange(5)
        if how == 0:
            text[place] ^= 1 << random.randrange(8)
        elif how == 1:
            del text[place : place + random.randrange(1, 20)]
        elif how == 2:
            text[place:place] = encodable(name(random)).encode()
        elif how == 3:
            end = random.randrange(place, len(text))
            text[place:place] = text[place:end]
        else:
            text[place:place] = digits(random).encode()
    return bytes(text)


def changed(random: Random) -> bytes:
    """A field of a good file with another value."""
    document = tomlkit.parse(PLAIN)
    text = tomlkit.dumps(document)
    line = random.choice([line for line in text.splitlines() if " = " in line])
    key = line.split(" = ")[0]
    value = random.choice([digits(random), nested(random).split(" = ")[-1]])
    return text.replace(line, f"{key} = {value}").encode()


def strange(random: Random) -> bytes:
    """No text, other encodings, other ends of lines, and far too much."""
    good = PLAIN.encode()
    return random.choice([
        b"", b"\0", b"\xef\xbb\xbf" + good, PLAIN.encode("utf-16"), good.replace(b"\n", b"\r\n"),
        good.replace(b"\n", b"\r"), good + b"\0", good + good, b"#" * 100_000, b"a" * 100_000,
        b'"' + b"a" * 100_000 + b'" = 1', b'x = "' + b"\xff" * 9 + b'"', random.randbytes(200),
        b"name = '" + b"n" * 100_000 + b"'\n" + good,
        b"seed = " + digits(random).encode() + b"\n" + good,
    ])  # fmt: skip


class Trials:
    """Each file is run; overrides get the same values."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, Path.cwd()
        (folder / "good.toml").write_bytes(PLAIN.encode())

    def one(self, random: Random) -> str:
        """One file or override."""
        os.chdir(self.folder)
        try:
            return self._one(random)
        finally:
            os.chdir(self.home)

    def _one(self, random: Random) -> str:
        how = random.randrange(10)
        words = ["--out", "out", "--fresh"]
        if how < 2:
            path = random.choice(["duration", "seed", "name", "link.0.rate", ".".join("a" * 999)])
            value = random.choice([digits(random), nested(random).split(" = ")[-1]])
            answer = command("run", "good.toml", *words, "--set", f"{path}={value[:100_000]}")
        else:
            nest = [PLAIN, "", "[scenario]\n", "[sweep]\n"]
            content = {
                2: lambda: f"{nested(random)}\n{PLAIN}".encode(),
                3: lambda: f"{random.choice(nest)}{nested(random)}\n".encode(),
                4: lambda: strange(random),
                5: lambda: changed(random),
            }.get(how, lambda: changed(random) if how < 8 else mutated(random))()
            Path("bad.toml").write_bytes(content)
            answer = command("run", "bad.toml", *words)
        return "run" if answer.code == 0 else "sentence"
