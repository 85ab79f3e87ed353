"""Okabe and Ito's eight colours, a grey, and what each stands for in every figure and slider.

The colours are told apart by all common forms of colour blindness. A role has a colour, a dash, a
marker and a hatch of its own, so that it is recognised without colour too. Words are written in
black or in this grey, which have a contrast of at least 4.5 on white.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#707070"
CYCLE = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK)  # for groups that play no role
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
EDGE = 1.5  # pixels, the outline of a bar
EDGES = {SKY: BLUE}  # of bars whose own colour is hardly seen on white
PALE = 0.4  # share of the colour in an area, the rest is white: lines and hatches stay visible


@dataclass(frozen=True)
class Role:
    """How one thing is drawn wherever it appears.

    words: its name in a legend.
    dash: lengths drawn and left out, in widths of the line; empty for a line without gaps.
    marker, hatch: as matplotlib names them; an empty hatch leaves an area plain.

    >>> ACCURACY.line()["color"] == BLUE, UNDER.area()["hatch"]
    (True, '..')
    """

    words: str
    colour: str
    dash: tuple[float, ...] = ()
    marker: str = "o"
    hatch: str = ""

    def named(self, words: str) -> Role:
        """The same look under other words, such as "accuracy on clean labels"."""
        return replace(self, words=words)

    @property
    def pale(self) -> str:
        """The colour of its area: opaque, so that it looks the same over another area.

        >>> DIAGONAL.pale
        '#c6c6c6'
        """
        channels = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return "#" + "".join(f"{round(255 - PALE * (255 - c)):02x}" for c in channels)

    @property
    def edge(self) -> str:
        """The colour of the outline of its area, at least 3 : 1 on white.

        >>> ACCURACY.edge, CURED.edge == BLUE
        ('#0072B2', True)
        """
        return EDGES.get(self.colour, self.colour)

    def line(self, **more) -> dict:
        """Its look as a line, for matplotlib and seaborn; `more` adds to it or overrides it."""
        style = (0, self.dash) if self.dash else "-"
        look = {"color": self.colour, "linestyle": style, "marker": self.marker}
        return look | {"label": self.words} | more

    def area(self, **more) -> dict:
        """Its look as an area, for matplotlib; `more` adds to it or overrides it."""
        look = {"facecolor": self.pale, "edgecolor": self.colour}
        return look | {"hatch": self.hatch, "label": self.words} | more


TRUTH = Role("the truth", BLACK, (6, 2, 1, 2), "D")
TRAINED = Role("as trained", ORANGE, (), "^")
CURED = Role("after the cure", SKY, (1, 1), "v")
ACCURACY = Role("accuracy", BLUE, (), "o")
CONFIDENCE = Role("mean confidence", PURPLE, (4, 2), "s")
OVER = Role("over-confident", VERMILLION, (2, 2), "X", "//")
UNDER = Role("under-confident", GREEN, (8, 2), "P", "..")
DIAGONAL = Role("perfectly calibrated", GREY, (3, 3), "")
COUNTS = Role("images (log)", GREY, (1, 3), "|")
ROLES = (TRUTH, TRAINED, CURED, ACCURACY, CONFIDENCE, OVER, UNDER, DIAGONAL, COUNTS)


def group(number: int, words: str) -> Role:
    """The look of a group that plays none of the roles, such as one of several sample sizes.

    number: counted from 0; after seven groups the looks begin again.

    >>> group(1, "n = 600").colour == ORANGE
    True
    """
    dashes = ((), (4, 2), (1, 1), (6, 2, 1, 2))
    look = number % len(CYCLE)
    return Role(words, CYCLE[look], dashes[number % len(dashes)], MARKERS[look])
