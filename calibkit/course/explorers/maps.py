"""What one temperature does, and what each map of the logits needs: two frames of lesson 08."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.pictures import palette, panels, svg
from calibkit.pictures.svg import Frame

EXACT = palette.TRUTH.named("exact posterior")
COOLED = palette.CURED.named("the network")
CHOSEN = palette.group(4, "the chosen map")


def cooling_frame(
    reliability: Reliability, curves: pd.DataFrame, at: float, *, exact_nll: float
) -> Frame:
    """The reliability diagram at one temperature, beside NLL and ECE at all up to this one.

    curves: a row a temperature, rising, with the columns T, nll, ece and gap.
    exact_nll: the NLL of the exact posterior on the same images, in nats.

    Raises ValueError for a temperature that the table does not have.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> table = pd.DataFrame({"T": [1, 2], "nll": [0.9, 0.6], "ece": [0.2, 0.1], "gap": [0.2, 0.1]})
    >>> cooling_frame(r, table, 2, exact_nll=0.3).readout
    'T = 2: signed gap +10.0 %, ECE 10.0 %, NLL 0.600'
    """
    validate.choice("at", at, tuple(curves["T"].tolist()))
    row = curves[curves["T"] == at].iloc[0]
    first, last = float(curves["T"].min()), float(curves["T"].max())
    level = panels.curve((first, last), (exact_nll, exact_nll), **svg.stroke(EXACT))
    drawn = [
        panels.reliability_plot("reliability", reliability),
        _against(curves, row, "nll", "NLL", (0, 0.5, 1, 1.5), [level, _key(EXACT, 0)]),
        _against(curves, row, "ece", "ECE", (0, 0.1, 0.2), []),
    ]
    words = f"signed gap {100 * row.gap:+.1f} %, ECE {100 * row.ece:.1f} %, NLL {row.nll:.3f}"
    return panels.frame(drawn, title=f"T = {at:g}", readout=words)


def needs_frame(
    reliability: Reliability,
    errors: pd.DataFrame,
    chosen: str,
    n: int,
    *,
    nothing: str,
    one: str,
    ceiling: float = 0.6,
) -> Frame:
    """The diagram of a map that was fitted on n images, and its error against the images used.

    errors: a row a run with the columns network, map, n and distance; each network gets a panel
        with the mean over its runs for `chosen`, for the map called `one`, and for `nothing`.

    Raises ValueError for a map or an n that the table does not have.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> errors = pd.DataFrame({"network": "plain", "map": ["no map", "no map", "T", "T"],
    ...                        "n": [20, 5000, 20, 5000], "distance": [0.4, 0.4, 0.3, 0.2]})
    >>> needs_frame(r, errors, "T", 5000, nothing="no map", one="T").readout
    'T, fitted on 5,000 images: distance 0.200 for plain (no map 0.400, T 0.200)'
    """
    maps = tuple(errors["map"].unique())
    for name in (chosen, nothing, one):
        validate.choice("map", name, maps)
    validate.choice("n", n, tuple(errors.n.unique().tolist()))
    drawn, words = [panels.reliability_plot("reliability", reliability)], []
    roles = {nothing: palette.TRAINED, one: palette.CURED, chosen: CHOSEN}
    for network, runs in errors.groupby("network", sort=False):
        means = runs.pivot_table(index="n", columns="map", values="distance")
        drawn.append(_over_n(network, means, roles, chosen, n, ceiling))
        found, others = means.loc[n], (nothing, one)
        beside = ", ".join(f"{name} {found[name]:.3f}" for name in others)
        words.append(f"{found[chosen]:.3f} for {network} ({beside})")
    title = f"{chosen}, fitted on {n:,} images"
    return panels.frame(drawn, title=title, readout=f"distance {'; '.join(words)}")


def _against(
    curves: pd.DataFrame, row: pd.Series, name: str, words: str, ticks: Sequence[float], more: list
) -> panels.Panel:
    """One measure up to the chosen T, which has a marker; a line at its lowest value so far.

    What lies beyond stays hidden, so that a student can guess it before moving on.
    """
    seen = curves[curves["T"] <= row["T"]]
    best = float(seen["T"][seen[name].idxmin()])
    low, high = ticks[0], ticks[-1]
    lowest = panels.curve((best, best), (low, high), stroke=palette.GREY, stroke_dasharray="3 3")
    line = panels.curve(seen["T"], seen[name], **svg.stroke(COOLED))
    return panels.plot(
        words,
        [*more, lowest, line, _marker(COOLED, row["T"], row[name])],
        x_label="T",
        y_label=words,
        x_ticks=(float(curves["T"].min()), 2, 3, 4, float(curves["T"].max())),
        y_ticks=ticks,
    )


def _over_n(
    title: str, means: pd.DataFrame, roles: dict, chosen: str, n: int, ceiling: float
) -> panels.Panel:
    """The error of each map of `roles` against the images used, `n` marked on the chosen one."""
    drawn = []
    for place, (name, role) in enumerate(roles.items()):
        drawn.append(panels.curve(means.index / 1000, means[name], **svg.stroke(role)))
        drawn.append(_key(role.named(name), place))
    return panels.plot(
        title,
        [*drawn, _marker(roles[chosen], n / 1000, means[chosen][n])],
        x_label="thousand images used",
        y_label="distance",
        x_ticks=(0.02, 0.1, 1, 5),  # longer numbers would leave the panel
        y_ticks=(0, ceiling / 2, ceiling),
        log_x=True,
    )


def _key(role: palette.Role, place: int) -> panels.Mark:
    """An entry of the legend, in the lower part of a panel, where no curve is."""
    return lambda axes: svg.line_key(role, axes.left + 8, axes.top + 118 + 16 * place, marked=False)


def _marker(role: palette.Role, x: float, y: float) -> panels.Mark:
    return lambda axes: svg.marker(role, axes.x(x), axes.y(y))
