"""Drawings that lie are noticed: each mutant of the drawing code fails the check named beside it.

A mutant is a line of the package in which something is drawn wrongly. A line that stands nowhere,
or twice, fails here: then the mutant is to be written anew.
"""

import importlib
import inspect
import types
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import calibkit
from tests.auditing import test_drawings as audits
from tests.course import test_landing as landing
from tests.course.explorers import test_drawings as frames
from tests.pictures import test_drawings as figures

PACKAGE = Path(calibkit.__file__).parent
FOLDERS = ("pictures", "course/explorers", "course/site", "auditing")

# By the check that notices: what is wrong, the line, and what stands there instead.
MUTANTS = {
    figures.test_a_reliability_frame_shows_the_bins: [
        (
            "bars at the confidence",
            '(b["left"], b["right"], 0, b["accuracy"]) for',
            '(b["left"], b["right"], 0, b["confidence"]) for',
        ),
        (
            "gap from zero",
            'return b["left"], b["right"], b["accuracy"], b["confidence"]',
            'return b["left"], b["right"], 0, b["confidence"]',
        ),
        (
            "first bin missing",
            'return [b for b in bins if b["count"] > 0]',
            'return [b for b in bins if b["count"] > 0][1:]',
        ),
        (
            "last bin drawn first",
            "rows = zip(*(column.tolist() for column in columns.values()), strict=True)",
            "rows = zip(*((column if name in ('left', 'right') else column.roll(1)).tolist() "
            "for name, column in columns.items()), strict=True)",
        ),
        ("bins one place to the left", '"right": r.edges[1:]', '"right": r.edges[:-1]'),
        (
            "accuracy in the colour of the counts",
            "axes.bars(bars, **svg.fill(ACCURACY)",
            "axes.bars(bars, **svg.fill(COUNTS)",
        ),
        (
            "hatch missing",
            'return {"fill": f"url(#{_name(role)})", "stroke": role.colour}',
            'return {"fill": role.pale, "stroke": role.colour}',
        ),
        (
            "intervals absent",
            'axes.whiskers(middles, stroke=BLACK, stroke_width=width, class_="interval"),',
            "",
        ),
        (
            "intervals without their upper half",
            'middles = [((b["left"] + b["right"]) / 2, b["low"], b["high"]) for b in bins]',
            'middles = [((b["left"] + b["right"]) / 2, b["low"], b["accuracy"]) for b in bins]',
        ),
        (
            "intervals at another level",
            "low, high = r.interval(level)",
            "low, high = r.interval(0.9)",
        ),
        (
            "intervals at the edge of their bin",
            'middles = [((b["left"] + b["right"]) / 2,',
            'middles = [(b["left"],',
        ),
        ("diagonal absent", "axes.line(0, 0, 1, 1, **svg.stroke(DIAGONAL, 1.5)),", ""),
        (
            "diagonal falling",
            "axes.line(0, 0, 1, 1, **svg.stroke(DIAGONAL, 1.5)),",
            "axes.line(0, 1, 1, 0, **svg.stroke(DIAGONAL, 1.5)),",
        ),
        (
            "accuracies in the strip of counts",
            'bars = [(b["left"], b["right"], 0.5, b["count"]) for b in bins]',
            'bars = [(b["left"], b["right"], 0.5, max(0.5, 100 * b["accuracy"])) for b in bins]',
        ),
        (
            "counts on another scale than their ticks",
            "drawn = axes.bars(bars, fill=COUNTS.colour, stroke=",
            "drawn = svg.Axes(*place, y_range=(0.5, 10 * ceiling), log_y=True).bars("
            "bars, fill=COUNTS.colour, stroke=",
        ),
    ],
    figures.test_a_small_reliability_plot_shows_the_bins: [
        (
            "full bins faded in place of empty ones",
            "return count < min(10, total / 100)",
            "return count >= min(10, total / 100)",
        ),
        (
            "bins of one sample missing",
            'return [b for b in bins if b["count"] > 0]',
            'return [b for b in bins if b["count"] > 1]',
        ),
    ],
    figures.test_a_frame_of_one_sided_bins_shows_no_gap_on_the_other: [
        (
            "colours of both sides exchanged",
            'axes.bars(map(_gap, over), **svg.fill(OVER), class_="over")',
            'axes.bars(map(_gap, over), **svg.fill(UNDER), class_="over")',
        ),
    ],
    figures.test_the_legend_has_the_looks_of_the_diagram: [
        (
            "hatches exchanged",
            'lines = tag("path", d=HATCHES[role.hatch]',
            "lines = tag(\"path\", d=HATCHES['..' if role.hatch == '//' else '//']",
        ),
        (
            "words of the legend exchanged",
            "svg.area_key(OVER, x, y + 20),",
            "svg.area_key(OVER.named(UNDER.words), x, y + 20),",
        ),
    ],
    figures.test_a_pooled_frame_shows_all_samples: [
        (
            "only the first of the pooled diagrams",
            "return functools.reduce(operator.add, diagrams)",
            "return diagrams[0]",
        ),
    ],
    figures.test_a_plot_has_its_curves_and_dots_where_the_data_are: [
        (
            "ticks shifted along x",
            "across = [text(self.x(v), bottom + 16, _tick(v / unit)) for v in x_ticks]",
            "across = [text(self.x(v) + 9, bottom + 16, _tick(v / unit)) for v in x_ticks]",
        ),
        (
            "y axis that ends at other numbers than its ticks",
            'x_range, y_range = _range("x_ticks", x_ticks), _range("y_ticks", y_ticks)',
            'x_range, y_range = _range("x_ticks", x_ticks), (0.4, y_ticks[-1])',
        ),
        (
            "log axis drawn evenly",
            "SIDE, SIDE, x_range, y_range, log_x)",
            "SIDE, SIDE, x_range, y_range, False)",
        ),
    ],
    frames.test_a_film_frame_shows_both_diagrams_and_both_curves: [
        (
            "lines without dashes",
            'dash = " ".join(f"{width * length:g}" for length in role.dash) or "none"',
            'dash = "none"',
        ),
        ("training curve from the test NLL", '(TRAINING, "train_nll"))', '(TRAINING, "test_nll"))'),
        (
            "diagrams of training and test exchanged",
            'panels.reliability_plot("training images", training)',
            'panels.reliability_plot("training images", test)',
        ),
        (
            "training told by the test accuracy",
            """training images {_pair(row, 'train')}""",
            """training images {_pair(row, 'test')}""",
        ),
    ],
    figures.test_a_frame_has_its_plots_in_order_then_the_keys: [
        (
            "plots of a frame in reverse",
            "drawn = (svg.picture(*CELL, draw(0, 0), scale=scale) for draw in panels)",
            "drawn = (svg.picture(*CELL, draw(0, 0), scale=scale) for draw in panels[::-1])",
        ),
    ],
    frames.test_the_legends_of_a_film_frame_have_the_looks_of_its_series: [
        (
            "keys of the film exchanged",
            "enumerate((TEST, TRAINING, EXACT))",
            "enumerate((TEST.named('training'), TRAINING.named('test'), EXACT))",
        ),
    ],
    frames.test_an_along_frame_shows_the_diagram_and_the_lines_with_their_markers: [
        (
            "markers at the maximum",
            "axes.x(at), axes.y(",
            "axes.x(at), axes.y(runs[role].max(axis=0)[place] + 0 * ",
        ),
        (
            "grey line at another place than the markers",
            "axes.line(at, low, at, high, stroke=palette.GREY",
            "axes.line(axes.x_range[0], low, axes.x_range[0], high, stroke=palette.GREY",
        ),
        (
            "band without a lower end",
            "np.concatenate([runs.max(axis=0), runs.min(axis=0)[::-1]])",
            "np.concatenate([runs.max(axis=0), runs.max(axis=0)[::-1]])",
        ),
        (
            "lines of the last run",
            "mean = axes.points(x, runs.mean(axis=0)",
            "mean = axes.points(x, runs[-1]",
        ),
    ],
    frames.test_the_legend_of_an_along_frame_names_lines_and_parts_of_the_diagram: [
        (
            "keys in other looks than their lines",
            "svg.line_key(role, 8, ",
            "svg.line_key(palette.group(i, role.words), 8, ",
        ),
    ],
    frames.test_a_ranked_frame_shows_the_sizes_and_the_lines_of_all_classes: [
        (
            "class sizes from the rarest",
            "bars = [(i + 0.6, i + 1.4, 0.5, count) for i, count in enumerate(counts)]",
            "bars = [(i + 0.6, i + 1.4, 0.5, count) for i, count in enumerate(counts[::-1])]",
        ),
    ],
    frames.test_a_spread_frame_shows_a_histogram_and_the_truth_of_each_sample: [
        (
            "histogram without its last bar",
            "drawn = [(low, high, 0, height) for low, high, height in bars if height > 0]",
            "drawn = [(low, high, 0, height) for low, high, height in bars if height > 0][:-1]",
        ),
        (
            "the truth of another sample",
            "_truth(axes, role, truths[role.words]) for role in looks]",
            "_truth(axes, role, truths[looks[0].words]) for role in looks]",
        ),
    ],
    frames.test_a_cooling_frame_shows_both_measures_up_to_the_temperature_and_their_lowest_value: [
        (
            "ECE drawn from the NLL",
            'seen["T"], seen[',
            'seen["T"], seen["nll"] + 0 * seen[',
        ),
        (
            "highest value for the lowest",
            ".idxmin()]",
            ".idxmax()]",
        ),
    ],
    frames.test_a_needs_frame_shows_the_mean_error_of_the_maps_for_each_network: [
        (
            "maps in each other's colours",
            "roles = {nothing: palette.TRAINED, one: palette.CURED, chosen: CHOSEN}",
            "roles = {nothing: palette.CURED, one: palette.TRAINED, chosen: CHOSEN}",
        ),
    ],
    landing.test_the_hundred_are_as_many_as_the_words_and_the_lesson_say: [
        (
            "one answer more of a hundred",
            "if place < full else _cross(x, y)",
            "if place <= full else _cross(x, y)",
        ),
    ],
    figures.test_counted_bins_are_drawn_as_they_are: [
        (
            "no bin of a figure is faded",
            'width[few], align="edge", facecolor',
            '0 * width[few], align="edge", facecolor',
        ),
        (
            "bars of a figure at the confidence",
            'ax.bar(left, accuracy, width, align="edge"',
            'ax.bar(left, confidence, width, align="edge"',
        ),
        (
            "sides of a figure exchanged",
            "((OVER, confidence > accuracy), (UNDER, confidence <= accuracy))",
            "((UNDER, confidence > accuracy), (OVER, confidence <= accuracy))",
        ),
        (
            "counts that are one too large",
            "_count_strip(ax, left, width, ",
            "_count_strip(ax, left, width, 1 + ",
        ),
    ],
    figures.test_a_reliability_diagram_shows_the_bins: [
        (
            "interval of a figure at 95 % whatever is asked",
            "reliability.interval(level))",
            "reliability.interval())",
        ),
    ],
    figures.test_the_diagram_without_bins_shows_the_regression_and_its_band: [
        (
            "regression without a lower end of its band",
            ", low, high, **DIAGONAL.area(",
            ", high, high, **DIAGONAL.area(",
        ),
    ],
    figures.test_a_histogram_shows_shares_mean_confidence_and_accuracy: [
        (
            "accuracy in the look of the confidence",
            "for role, value in ((ACCURACY, ",
            "for role, value in ((CONFIDENCE.named('accuracy'), ",
        ),
    ],
    figures.test_spread_shows_the_mean_and_the_whole_range: [
        (
            "median of the runs",
            "ax.plot(x, runs.mean(axis=0), **role.line())",
            "ax.plot(x, np.median(runs, axis=0), **role.line())",
        ),
    ],
    figures.test_columns_show_their_means_and_ranges_in_their_roles: [
        (
            "columns with half their range",
            'errorbar=("pi", 100), ax=ax, **look)',
            'errorbar=("pi", 50), ax=ax, **look)',
        ),
    ],
    figures.test_a_diagram_is_told_as_it_is_drawn: [
        (
            "text that tells the first bin for the last",
            "the last bin says {confidence[-1]:.0%}",
            "the last bin says {confidence[0]:.0%}",
        ),
    ],
    figures.test_lines_are_told_as_they_are_drawn: [
        (
            "text that tells the lowest value for the highest",
            '("highest", y.argmax())',
            '("highest", y.argmin())',
        ),
    ],
    audits.test_the_classes_stand_in_order_of_surprise_with_their_own_numbers: [
        (
            "classes in reverse",
            "_class_rows(pd.concat([shown, extra]))",
            "_class_rows(pd.concat([shown, extra])[::-1])",
        ),
    ],
    audits.test_the_risk_is_drawn_against_the_coverage: [
        (
            "risk and coverage exchanged",
            "curve(share[some], risk[some], **look)(axes)",
            "curve(risk[some], share[some], **look)(axes)",
        ),
        (
            "risk of answering everything at the first risk",
            "axes.line(0, float(risk[-1]), 1, float(risk[-1])",
            "axes.line(0, float(risk[0]), 1, float(risk[0])",
        ),
    ],
    audits.test_the_groups_stand_at_their_gaps_with_their_intervals: [
        (
            "gaps with their sign turned",
            "svg.marker(role, axes.x(float(at)), axes.y(y))",
            "svg.marker(role, axes.x(-float(at)), axes.y(y))",
        ),
        (
            "colours of the groups exchanged",
            "role, y = OVER if at > 0 else UNDER, place + 0.5",
            "role, y = UNDER if at > 0 else OVER, place + 0.5",
        ),
    ],
    audits.test_the_diagrams_show_the_bins_before_and_after_the_temperature: [
        (
            "diagram after the temperature as before it",
            "{before}{after}",
            "{before}{before}",
        ),
        (
            "text that counts what lies inside",
            "((confidence < low) | (confidence > high))",
            "((confidence > low) & (confidence < high))",
        ),
    ],
    audits.test_the_event_of_a_binary_model_is_drawn_from_0_to_1: [
        (
            "predicted classes drawn for the event",
            "        curve=mine.wide,",
            "        curve=as_it_is.wide,",
        ),
        (
            "intervals of the page at another level",
            "diagram_panel(counted, title, level)",
            "diagram_panel(counted, title, 0.95)",
        ),
    ],
}
ALL = [pytest.param(*m[1:], check, id=m[0]) for check, group in MUTANTS.items() for m in group]


@pytest.fixture(autouse=True)
def _forget():
    """The page of a mutant is not looked at by other tests, nor theirs by its check."""
    audits.page.cache_clear()
    yield
    audits.page.cache_clear()
    plt.close("all")


@pytest.mark.parametrize(("line", "lie", "check"), ALL)
def test_a_drawing_that_lies_is_noticed(line, lie, check, monkeypatch):
    module, source = where(line)
    mutate(module, source.replace(line, lie), monkeypatch)
    with pytest.raises(AssertionError):
        run(check)


def test_a_mutant_that_draws_the_same_is_not_noticed(monkeypatch):
    line = '(b["left"], b["right"], 0, b["accuracy"]) for'
    module, source = where(line)
    mutate(module, source.replace(line, line.replace("0,", "0.0,")), monkeypatch)
    run(figures.test_a_reliability_frame_shows_the_bins)


def where(line):
    """The module in which the line stands, and its source."""
    paths = [path for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py")]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    places = [path for path, source in sources.items() for _ in range(source.count(line))]
    if len(places) != 1:
        pytest.fail(
            f"{line!r} stands at {len(places)} places, {[str(p) for p in places]}: rewrite it"
        )
    name = ".".join(places[0].relative_to(PACKAGE.parent).with_suffix("").parts)
    return importlib.import_module(name), sources[places[0]]


def mutate(module, source, monkeypatch):
    """Give the functions of a module, which others may hold, the code of another source."""
    changed = {"__name__": module.__name__}
    exec(compile(source, module.__file__, "exec"), changed)
    swapped = 0
    for function, other in functions(vars(module), changed, module.__name__):
        if function.__code__ != other.__code__:
            monkeypatch.setattr(function, "__code__", other.__code__)
            swapped += 1
    assert swapped, "the changed line is in no function"


def functions(names, others, module):
    """Pairs of a function or method of a module and its like of the other source."""
    for name, thing in names.items():
        if getattr(thing, "__module__", None) != module or name not in others:
            continue
        if isinstance(thing, types.FunctionType):
            yield thing, others[name]
        elif inspect.isclass(thing):
            yield from functions(vars(thing), vars(others[name]), module)


def run(check):
    """A check that is a test of several parameters is run with each."""
    marks = [mark for mark in getattr(check, "pytestmark", []) if mark.name == "parametrize"]
    for value in marks[0].args[1] if marks else [None]:
        check(value) if marks else check()
