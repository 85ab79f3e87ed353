"""Texts of figures: made from the data, different for different data, shown with the image."""

import base64

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibkit.pictures import alt_text


def panel(**kept):
    figure = Figure()
    ax = figure.subplots()
    ax.set(**kept)
    return figure, ax


def test_a_line_says_where_it_begins_ends_and_turns():
    figure, ax = panel(xlabel="epoch", ylabel="NLL", title="test")
    ax.plot([1, 2, 3], [0.5, 0.2, 0.9])
    said = "test. NLL against epoch: from 0.5 at 1 to 0.9 at 3, lowest 0.2 at 2."
    assert alt_text.describe(figure) == said
    assert alt_text.note(ax, "15 bins; accuracy below confidence in 11") is ax
    assert alt_text.describe(figure) == "15 bins; accuracy below confidence in 11."
    assert alt_text.describe(Figure()) == "An empty figure."


def test_guides_and_bands_are_not_data():
    figure, ax = panel(ylabel="gap")
    ax.axhline(0)
    ax.fill_between([0, 1], [0, 0], [1, 1])
    ax.plot([0, 1], [0.1, 0.2], label="network")
    assert alt_text.describe(figure) == "gap: network from 0.1 at 0 to 0.2 at 1."
    ax.plot([0, 1], np.ones((2, 3)) / 2)
    assert "more lines" not in alt_text.describe(figure)
    ax.plot([0, 1], [1, 1])
    ax.plot([1], [1])  # a point alone has no course
    assert "and 1 more lines" in alt_text.describe(figure)


def test_each_kind_of_panel_is_told_and_empty_ones_are_not():
    figure = Figure()
    one, _, two, three, four, five = figure.subplots(1, 6)
    one.plot(["small", "large"], [0.5, 0.25])
    two.bar([0, 1, 2], [3, 5, 4])
    three.imshow(np.zeros((8, 9)))
    four.scatter([0, 1, 2], [3, 4, 5], label="digits")
    five.plot([0, 1, 2], [1.0, np.nan, 2.0])
    said = alt_text.describe(figure)
    assert said.startswith("Panel 1: from 0.5 at 0 to 0.25 at 1.")
    assert "Panel 2: 3 bars, the tallest, number 2, 5 high." in said
    assert "picture of 8 by 9 pixels" in said
    assert "digits: 3 points between (0, 3) and (2, 5)" in said
    assert "from 1 at 0 to 2 at 2" in said


@pytest.fixture
def shell():
    from IPython.testing.globalipapp import start_ipython

    assert alt_text.show_with_text() is False  # outside of IPython nothing is changed
    found = start_ipython()
    found.display_formatter.active_types = ["text/plain", "image/png"]  # a kernel's
    yield found
    found.clear_instance()


def test_in_a_notebook_figures_are_shown_as_images_with_a_text(shell):
    assert alt_text.show_with_text() is True
    figure, ax = panel(title="here")
    ax.plot([0, 1], [0, 1])
    faces, told = shell.display_formatter.format(figure)
    assert base64.b64decode(faces["image/png"]).startswith(b"\x89PNG")
    assert told["image/png"] == {"alt": "here: from 0 at 0 to 1 at 1."}
