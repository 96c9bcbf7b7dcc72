"""The README's moving picture, `docs/images/tab.webp`: frames of the real page, joined.

    make film        # or, after `make web`: python docs/moving_picture.py

`web/film.mjs` opens the built page in Chromium, takes equal steps of simulated time and a picture
of each; here they become one WebP. Needs Node.js with the packages of `web/package-lock.json`, and
Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "python" / "aqmlab" / "lab" / "page"
FILE = ROOT / "docs" / "images" / "tab.webp"
COLOURS = 48
FRAME_MS = 200
LAST_MS = 2500
"""How long the last frame stays, before the film begins again."""
MOST_BYTES = 200_000


def write(folder: Path) -> int:
    """Joins the frames of a folder; the size of the film in bytes."""
    frames = [Image.open(frame).convert("RGB") for frame in sorted(folder.glob("*.png"))]
    palette = common(frames)
    drawn = [
        one.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for one in frames
    ]
    drawn[0].save(
        FILE,
        save_all=True,
        append_images=drawn[1:],
        duration=[FRAME_MS] * (len(drawn) - 1) + [LAST_MS],
        loop=0,
        lossless=True,
        quality=100,  # the most effort: all of it is lossless
        method=6,
        minimize_size=True,
    )
    return FILE.stat().st_size


def common(frames: Sequence[Image.Image]) -> Image.Image:
    """The palette of the colours that most pixels have: one for all frames, so that what stands
    still does not change."""
    counted: Counter[tuple[int, ...]] = Counter()
    for frame in (frames[0], frames[len(frames) // 2], frames[-1]):
        for number, colour in frame.getcolors(frame.width * frame.height) or []:
            counted[colour] += number  # pyright: ignore[reportArgumentType]
    made = Image.new("P", (1, 1))
    made.putpalette([part for colour, _ in counted.most_common(COLOURS) for part in colour])
    return made


def main() -> int:
    """Takes the frames and joins them; 1 if the film is too large for a README."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["node", ROOT / "web" / "film.mjs", PAGE, folder], check=True, cwd=ROOT)
        size = write(Path(folder))
    print(f"{FILE.relative_to(ROOT)}: {size:,} bytes")
    return 0 if size <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
