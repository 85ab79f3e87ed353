"""What a drawing must show, however it was drawn; each raises AssertionError if it does not."""

import numpy as np

from calibkit import metrics
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.reading import PIXEL, Look, Plot

INTERVAL = Look(palette.BLACK)


def sample(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of three classes, and labels: of ten bins five are filled, one of them by one.

    Below 0.7 the model is under-confident, above it over-confident.
    """
    random = np.random.default_rng(seed)
    bins = ((0.41, 60), (0.51, 1), (0.61, 70), (0.81, 80), (0.91, 75))  # lowest confidence, samples
    said = np.concatenate([random.uniform(low, low + 0.08, n) for low, n in bins])
    right = random.random(len(said)) < np.where(said < 0.7, said + 0.2, said - 0.2)
    rest = (1 - said) / 2
    return np.stack([said, rest, rest], axis=1), np.where(right, 0, 1)


def check_diagram(plot: Plot, strip: Plot, counted: metrics.Reliability, level=0.95) -> None:
    """A reliability diagram and its strip of counts show these bins, and only the filled ones."""
    filled = (counted.counts > 0).numpy()
    ends = np.stack([counted.edges[:-1], counted.edges[1:]], axis=1)[filled]
    accuracy, confidence = (
        part.double().numpy()[filled] for part in (counted.accuracy, counted.confidence)
    )
    levels = plot.one("levels", Look(palette.ACCURACY.colour))
    plot.is_at(levels, ends, accuracy)
    gaps = np.stack([accuracy, confidence], axis=1)
    check_gaps(plot, palette.OVER, ends, gaps, confidence > accuracy)
    check_gaps(plot, palette.UNDER, ends, gaps, confidence <= accuracy)
    check_faded(plot, ends, gaps, counted.counts.numpy()[filled])
    whiskers = np.stack([end.numpy()[filled] for end in counted.interval(level)], axis=1)
    plot.is_at(plot.one("whiskers", INTERVAL), ends.mean(axis=1), whiskers)
    check_frame(plot, strip)
    check_counts(strip, ends, counted.counts.numpy()[filled])


def check_gaps(plot: Plot, role, ends, gaps, here) -> None:
    """The bins of one side have their gap in the look of this role, the others have none."""
    drawn = plot.all("bars", reading.area(role))
    assert len(drawn) == bool(here.any())
    for bars in drawn:
        plot.is_at(bars, ends[here], gaps[here])


def check_faded(plot: Plot, ends, gaps, counts) -> None:
    """A white veil lies over the bins of less than ten samples, and one in a hundred, alone."""
    few = counts < min(10, counts.sum() / 100)
    veils = [bars for bars in plot.all("bars", Look("#FFFFFF")) if len(bars.x)]
    assert len(veils) == bool(few.any())
    for veil in veils:
        plot.is_at(veil, ends[few], gaps[few])


def check_frame(plot: Plot, strip: Plot) -> None:
    """The unit square with its diagonal, over a strip with the same x axis."""
    check_ranges(plot, (0, 1), (0, 1))
    check_ranges(strip, (0, 1), strip.y_range)
    plot.is_at(plot.one("line", reading.line(palette.DIAGONAL)), [0, 1], [0, 1])
    assert (plot.y_label, strip.x_label) == ("accuracy (%)", "confidence (%)")
    assert strip.y_label.endswith(" (log)")


def check_ranges(plot: Plot, x_range, y_range) -> None:
    """The axes reach from the first to the second number of each."""
    for scale, seen, expected in ((plot.x, plot.x_range, x_range), (plot.y, plot.y_range, y_range)):
        np.testing.assert_allclose(scale.place(seen), scale.place(expected), 0, PIXEL)


def check_counts(strip: Plot, ends, counts) -> None:
    """Bars from below one sample up to the counts."""
    bars = strip.one("bars", Look(palette.COUNTS.colour))
    low, high = bars.y.T
    assert (low < 1).all()
    np.testing.assert_allclose(strip.x.place(bars.x), strip.x.place(ends), 0, PIXEL)
    np.testing.assert_allclose(strip.y.place(high), strip.y.place(counts), 0, PIXEL)
    assert (high < strip.y_range[1]).all()


def check_runs(plot: Plot, role, x, runs) -> None:
    """The mean over runs as a line in this role's look, the least and largest run as a band."""
    x, runs = np.asarray(x, dtype=float), np.asarray(runs, dtype=float)
    plot.is_at(plot.one("line", reading.line(role)), x, runs.mean(axis=0))
    plot.is_at(plot.one("band", Look(role.colour)), x, np.c_[runs.min(axis=0), runs.max(axis=0)])


def line_key(role) -> set[Look]:
    return {reading.line(role), reading.marker(role)}


DIAGRAM_KEYS = {
    "accuracy": [{Look(palette.ACCURACY.colour)}],
    "over-confident": [{reading.area(palette.OVER)}],
    "under-confident": [{reading.area(palette.UNDER)}],
    "95 % interval": [{INTERVAL}],
}
# beside lines, of which one has the name of the bars
ALONG_KEYS = {
    "accuracy of a bin" if name == palette.ACCURACY.words else name: look
    for name, look in DIAGRAM_KEYS.items()
}
