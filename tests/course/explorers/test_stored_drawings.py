"""Frames that lessons open with: each moves, and says where its sliders stand."""

import itertools
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibkit.course import explorers
from tests.pictures.reading_svg import picture

FOLDER = Path(__file__).parents[3] / "notebooks" / "results" / "explorers"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
READ = 5  # frames of each explorer, from its first to its last


@cache
def read(name):
    """Of some frames the words at their sliders, the pictures of their panels, and the readout."""
    explorer = explorers.stored(name, FOLDER)
    positions = list(itertools.product(*(slider.shown for slider in explorer.sliders)))
    log_x = True if name == "audit_power" else None  # two ticks do not tell
    found = []
    for place in sorted({*np.linspace(0, len(positions) - 1, READ).astype(int)}):
        frame = explorer.frames[place]
        pictures = [picture(panel, log_x=log_x if i == 1 else None)
                    for i, panel in enumerate(frame.panels)]  # fmt: skip
        found.append((positions[place], pictures, frame))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_step_of_a_slider_moves_the_picture(name):
    explorer = explorers.stored(name, FOLDER)
    sizes = [len(slider.shown) for slider in explorer.sliders]
    drawn = dict(zip(np.ndindex(*sizes), (f.panels for f in explorer.frames), strict=True))
    for at in drawn:
        for place in range(len(at)):
            following = (*at[:place], at[place] + 1, *at[place + 1 :])
            assert following not in drawn or drawn[at] != drawn[following], at


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_says_where_its_sliders_stand(name):
    for shown, pictures, frame in read(name):
        words = " ".join([frame.readout, *(word for one in pictures for word in one.words)])
        for position in shown:
            number = re.escape(position.removesuffix(".0"))
            assert re.search(rf"(?<![\w.]){number}(?![\w%]|\.\d)", words), words
