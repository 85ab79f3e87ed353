"""Figures: legends, counts, texts, the theme, what is refused; bars and lines: `test_drawings`."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from calibkit.pictures import alt_text, palette, plots

GENERATOR = torch.Generator().manual_seed(0)
PROBS = (2 * torch.randn(300, 4, generator=GENERATOR)).softmax(dim=1)
LABELS = torch.randint(4, (300,), generator=GENERATOR)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_the_legend_has_both_gaps_in_their_colours_even_where_one_is_absent():
    ax = plots.reliability_diagram([[0.9, 0.1]], [1], bins=2)
    handles = dict(
        zip(
            [t.get_text() for t in ax.get_legend().get_texts()],
            ax.get_legend().legend_handles,
            strict=True,
        )
    )
    for role in (palette.OVER, palette.UNDER):
        assert mpl.colors.same_color(handles[role.words].get_facecolor(), role.pale)
        assert handles[role.words].get_hatch() == role.hatch


def test_the_counts_are_logarithmic_in_every_diagram_and_say_so():
    probs = torch.tensor([[0.55, 0.45]] * 3 + [[0.75, 0.25]] * 2 + [[0.95, 0.05]] * 500)
    for chosen in (probs, probs[:5]):  # one tall bar, even bars
        labels = torch.zeros(len(chosen), dtype=torch.long)
        strip = plots.reliability_diagram(chosen, labels, bins=10).child_axes[0]
        assert (strip.get_yscale(), strip.get_ylabel()) == ("log", "images (log)")
        assert strip.get_ylim()[0] < 2  # a bin of one is seen


def test_a_small_diagram_has_no_counts_that_nobody_could_read():
    ax = plt.subplots(1, 4, figsize=(6.6, 3))[1][0]
    plots.reliability_diagram(PROBS, LABELS, bins=15, ax=ax)
    assert len(ax.child_axes[0].texts) == 0


def test_a_diagram_is_described_from_its_own_bins():
    probs = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]]
    ax = plots.reliability_diagram(probs, [0, 1, 0], bins=5, title="nets")
    assert alt_text.describe(ax.figure) == (
        "nets: reliability diagram of 2 filled bins; accuracy below confidence in 1; "
        "the last bin says 90%, right 50%."
    )


def test_many_bins_are_not_written_over_one_another():
    uniform = torch.linspace(0.5, 1, 400)
    probs = torch.stack([uniform, 1 - uniform], dim=1)
    ax = plots.reliability_diagram(probs, torch.zeros(400, dtype=torch.long), bins=80)
    assert len(ax.child_axes[0].texts) == 0


def test_the_theme_is_square_in_the_palette_and_may_be_set_twice():
    with mpl.rc_context():
        plots.theme()
        once = dict(mpl.rcParams)
        plots.theme()
        assert dict(mpl.rcParams) == once
        ax = plt.subplots()[1]
        assert [
            mpl.colors.to_hex(ax.plot([0, 1])[0].get_color()).upper() for _ in range(7)
        ] == list(palette.CYCLE)
        assert len(set(ax.figure.get_size_inches())) == 1


def test_a_given_axes_is_used_and_nothing_global_is_set():
    before = dict(mpl.rcParams)
    ax = plt.subplots()[1]
    assert plots.reliability_diagram(PROBS, LABELS, ax=ax) is ax
    assert plots.confidence_histogram(PROBS, LABELS, ax=plt.subplots()[1]).get_figure()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("draw", [plots.reliability_diagram, plots.confidence_histogram])
@pytest.mark.parametrize(
    ("probs", "labels", "names"),
    [
        (PROBS * 3, LABELS, "probs"),
        (PROBS * float("nan"), LABELS, "probs"),
        (PROBS[:10], LABELS, "labels"),
        (PROBS, LABELS + 4, "labels"),
        (PROBS, LABELS.float(), "labels"),
    ],
)
def test_wrong_predictions_are_refused_by_name(draw, probs, labels, names):
    with pytest.raises((ValueError, TypeError), match=names):
        draw(probs, labels)


def test_wrong_options_are_refused_by_name():
    with pytest.raises((ValueError, TypeError), match="bins"):
        plots.reliability_diagram(PROBS, LABELS, bins=0)
    with pytest.raises(ValueError, match="level"):
        plots.reliability_diagram(PROBS, LABELS, level=95)
    with pytest.raises(ValueError, match="runs"):
        plots.spread([1, 2, 3], np.zeros((2, 2)), palette.TRUTH, ax=plt.subplots()[1])


def runs_table(positions):
    places = [(x, seed) for x in range(positions) for seed in (0, 1)]
    return pd.DataFrame(
        {"epoch": x, "seed": seed, "right": 0.5 + 0.1 * seed, "sure": 0.9} for x, seed in places
    )


def test_columns_of_many_positions_have_no_markers():
    ax = plt.subplots()[1]
    plots.columns(runs_table(plots.MARKED + 1), "epoch", {"right": palette.ACCURACY}, ax=ax)
    assert ax.lines[0].get_marker() in ("", "None")


def test_a_histogram_is_described_with_its_two_lines():
    ax = plots.confidence_histogram([[0.9, 0.1], [0.4, 0.6]], [0, 0], bins=5, title="two")
    assert alt_text.describe(ax.figure) == (
        "two: confidence histogram of 2 samples, 50% of them in the last bin; mean confidence "
        "75.0%, accuracy 50.0%."
    )


def test_the_plane_has_every_training_at_its_place_and_kappa_in_the_legend():
    rng = np.random.default_rng(0)
    one, two = rng.normal([0.2, 0.14], 0.01, (5, 2)), rng.normal([0.4, -0.1], 0.01, (5, 2))
    looks = palette.group(0, "plain"), palette.group(1, "smoothed")
    ax = plots.plane(dict(zip(looks, (one, two), strict=True)))
    drawn = {
        line.get_label().split(":")[0]: line for line in ax.lines if line.get_label()[0] != "_"
    }
    for look, rows in zip(looks, (one, two), strict=True):
        line = drawn[look.words]
        assert np.column_stack(line.get_data()) == pytest.approx(rows)
        assert (line.get_color(), line.get_marker(), line.get_linestyle()) == (
            look.colour,
            look.marker,
            "None",
        )
        slope = rows[:, 1].mean() / rows[:, 0].mean()
        assert line.get_label() == f"{look.words}: kappa {slope:.2f}"
        assert f"{look.words} {rows[:, 0].mean():.2f} lost" in alt_text.describe(ax.figure)
    guides = [np.column_stack(line.get_data()) for line in ax.lines if line.get_label()[0] == "_"]
    assert any(np.allclose(guide[:, 0], guide[:, 1]) for guide in guides)  # the nearest neighbour
    assert any(np.allclose(guide[:, 1], 0) for guide in guides)  # confidence equals accuracy
    assert ax.get_aspect() == 1
    assert ax.get_xlim()[1] > max(one[:, 0].max(), two[:, 0].max())


def test_a_path_joins_the_epochs_and_names_both_ends():
    rows = [(0.01, -0.1), (0.1, 0.02), (0.2, 0.15)]
    ax = plots.plane({palette.group(0, "training"): rows}, path=True)
    (line,) = [line for line in ax.lines if line.get_label() == "training"]
    assert line.get_linestyle() == "-"
    text = alt_text.describe(ax.figure)
    assert "from 0.01 lost and -0.10 claimed to 0.20 and +0.15" in text


@pytest.mark.parametrize("places", [{}, {palette.group(0, "none"): []}])
def test_a_plane_without_places_is_refused(places):
    with pytest.raises(ValueError, match="places must map looks to at least 1 place"):
        plots.plane(places)


def test_differences_have_a_row_each_hollow_where_zero_is_inside():
    rows = {"focal": (0.02, 0.01, 0.03), "mixup": (-0.01, -0.03, 0.01)}
    ax = plots.differences(rows)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["focal", "mixup"]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() for dot in dots] == [palette.BLACK, "none"]
    assert [dot.get_xdata()[0] for dot in dots] == [0.02, -0.01]
    said = alt_text.describe(ax.figure)
    assert "focal +0.020, from +0.010 to +0.030; mixup -0.010, from -0.030 to +0.010" in said
    with pytest.raises(ValueError, match="rows must map"):
        plots.differences({})
