"""A folder in which a discipline of one's own begins: `aqmlab new aqm NAME --lang …`."""

from __future__ import annotations

from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.io.files import reported

from . import trust

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGES = ("python", "c", "rust")
INTERFACE = {"c": "aqmlab_plugin.h", "rust": "src/aqmlab_plugin.rs"}
"""Where a template wants what its language is compiled against."""


def write(name: str, language: str, folder: Path) -> list[Path]:
    """Writes a discipline `name` that builds, and answers with its files."""
    if not (name.isidentifier() and name.isascii() and name == name.lower() and len(name) <= 60):
        raise SpecError(
            f'"{name}" is no name for a discipline: write small letters, digits and underscores, '
            "for example my_aqm"
        )
    if language not in LANGUAGES:
        raise SpecError(f'no template in "{language}": choose one of {", ".join(LANGUAGES)}')
    if folder.exists():
        raise SpecError(f"{folder} is there already: give another name, or --out another folder")
    templates = TEMPLATES / language
    written = {
        folder / _named(str(path.relative_to(templates)), name): _named(path.read_text(), name)
        for path in sorted(templates.rglob("*"))
        if path.is_file()
    }
    if language in INTERFACE:
        place = INTERFACE[language]
        written[folder / place] = _interfaces()[Path(place).name]
    with reported(folder):
        for path, text in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if path.suffix == ".py":
                trust.permit_file(path)
    return list(written)


def _interfaces() -> dict[str, str]:
    from aqmlab import _core

    return dict(_core.interfaces())


def _named(text: str, name: str) -> str:
    """A template's text, or the name of its file, for this discipline."""
    camel = "".join(word.capitalize() for word in name.split("_"))
    return text.replace("my_aqm", name).replace("MyAqm", camel)
