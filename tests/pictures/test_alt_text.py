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
    assert alt_text.describe(figure) == (
        "test. NLL against epoch: from 0.5 at 1 to 0.9 at 3, lowest 0.2 at 2."
    )


def test_words_on_an_axis_are_their_positions():
    figure, ax = panel(ylabel="score")
    ax.plot(["small", "large"], [0.5, 0.25])
    assert alt_text.describe(figure) == "score: from 0.5 at 0 to 0.25 at 1."


def test_guides_and_bands_are_not_data():
    figure, ax = panel(ylabel="gap")
    ax.axhline(0)
    ax.fill_between([0, 1], [0, 0], [1, 1])
    ax.plot([0, 1], [0.1, 0.2], label="network")
    assert alt_text.describe(figure) == "gap: network from 0.1 at 0 to 0.2 at 1."


def test_panels_are_counted_and_empty_ones_are_not():
    figure = Figure()
    left, _, right = figure.subplots(1, 3)
    left.plot([0, 1], [0, 1])
    right.bar([0, 1, 2], [3, 5, 4])
    said = alt_text.describe(figure)
    assert said.startswith("Panel 1: from 0 at 0 to 1 at 1.")
    assert said.endswith("Panel 2: 3 bars, the tallest, number 2, 5 high.")


def test_pictures_points_and_missing_numbers():
    figure = Figure()
    one, two, three = figure.subplots(1, 3)
    one.imshow(np.zeros((8, 9)))
    two.scatter([0, 1, 2], [3, 4, 5], label="digits")
    three.plot([0, 1, 2], [1.0, np.nan, 2.0])
    said = alt_text.describe(figure)
    assert "picture of 8 by 9 pixels" in said
    assert "digits: 3 points between (0, 3) and (2, 5)" in said
    assert "from 1 at 0 to 2 at 2" in said


def test_many_lines_are_counted():
    figure, ax = panel()
    for k in range(7):
        ax.plot([0, 1], [k, k + 1], label=f"run {k}")
    assert "run 3" in alt_text.describe(figure)
    assert alt_text.describe(figure).endswith("and 3 more lines.")


def test_a_note_takes_the_place_of_the_description():
    figure, ax = panel(ylabel="share")
    ax.plot([0, 1], [0, 1])
    assert alt_text.note(ax, "15 bins; accuracy below confidence in 11") is ax
    assert alt_text.describe(figure) == "15 bins; accuracy below confidence in 11."


def test_an_empty_figure_says_so():
    assert alt_text.describe(Figure()) == "An empty figure."


def test_outside_of_ipython_nothing_is_changed():
    assert alt_text.show_with_text() is False


@pytest.fixture
def shell():
    from IPython.testing.globalipapp import start_ipython

    found = start_ipython()
    found.display_formatter.active_types = ["text/plain", "image/png"]  # a kernel's
    yield found
    found.clear_instance()


def test_in_a_notebook_figures_are_shown_as_images_with_a_text(shell):
    from IPython import get_ipython

    assert get_ipython() is not None
    assert alt_text.show_with_text() is True
    figure, ax = panel(title="here")
    ax.plot([0, 1], [0, 1])
    faces, told = get_ipython().display_formatter.format(figure)
    assert base64.b64decode(faces["image/png"]).startswith(b"\x89PNG")
    assert told["image/png"] == {"alt": "here: from 0 at 0 to 1 at 1."}
