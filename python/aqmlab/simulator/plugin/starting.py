"""Creates a folder with a template of a user's own discipline or congestion control: `aqmlab new
aqm NAME --lang …`, `aqmlab new cc NAME --lang …`."""

from __future__ import annotations

import shutil
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.io.files import reported

from . import trust

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGES = ("python", "c", "rust")
KINDS = {"aqm": "discipline", "cc": "congestion control"}
"""The kinds of programs by the word of the command, with their names in sentences."""
INTERFACES = {
    ("aqm", "c"): ("aqmlab_plugin.h",),
    ("aqm", "rust"): ("src/aqmlab_plugin.rs",),
    ("cc", "c"): ("aqmlab_plugin.h", "aqmlab_control.h"),
    ("cc", "rust"): ("src/aqmlab_plugin.rs", "src/aqmlab_control.rs"),
}
"""Paths at which a template needs the header or module of the plugin interface."""


def write(name: str, language: str, folder: Path, kind: str = "aqm") -> list[Path]:
    """Writes a discipline or congestion control `name` that builds, and returns its files."""
    if not (name.isidentifier() and name.isascii() and name == name.lower() and len(name) <= 60):
        raise SpecError(
            f'"{name}" is no name for a {KINDS[kind]}: write small letters, digits and '
            f"underscores, for example my_{kind}"
        )
    if language not in LANGUAGES:
        raise SpecError(f'no template in "{language}": choose one of {", ".join(LANGUAGES)}')
    if folder.exists():
        raise SpecError(f"{folder} is there already: give another name, or --out another folder")
    templates = TEMPLATES / kind / language
    written = {
        folder / _named(str(path.relative_to(templates)), name, kind): _named(
            path.read_text(), name, kind
        )
        for path in sorted(templates.rglob("*"))
        # Pip compiles the Python files that it installs.
        if path.is_file() and path.parent.name != "__pycache__"
    }
    for place in INTERFACES.get((kind, language), ()):
        written[folder / place] = _interfaces()[Path(place).name]
    try:
        with reported(folder):
            for path, text in written.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                if path.suffix == ".py":
                    trust.permit_file(path)
    except BaseException:
        # An incomplete folder would block a second attempt.
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return list(written)


def _interfaces() -> dict[str, str]:
    from aqmlab import _core

    return dict(_core.interfaces())


def _named(text: str, name: str, kind: str) -> str:
    """A template's text, or the name of its file, with the user's `name` in place of the
    template's."""
    camel = "".join(word.capitalize() for word in name.split("_"))
    return text.replace(f"my_{kind}", name).replace(f"My{kind.capitalize()}", camel)
