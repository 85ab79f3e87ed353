"""What a network and the exact law say of the next word of a translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibkit.pictures import palette, svg
from calibkit.pictures.svg import Frame

MOST = 8  # words
SHORT = 6  # words of a line
ROW = 30  # pixels
LEFT, TOP, WIDTH = 92, 96, 244
NETWORK = palette.group(5, "the network")
EXACT = palette.TRUTH.named("the exact law")


def next_word_frame(
    source: str,
    prefix: Sequence[str],
    says: Mapping[str, float],
    law: Mapping[str, float],
    *,
    title: str,
) -> Frame:
    """Bars: what a network says of the most probable next words; diamonds: the exact law of each.

    source: the sentence; prefix: the words of its translation so far; says, law: probabilities by
        word. Up to eight words are drawn: those of the law first, then those of the network.

    >>> frame = next_word_frame("the car", ["la"], {"voiture": 0.7, "route": 0.3}, {"voiture": 1.0},
    ...                         title="300 sentences, after 1 word")
    >>> frame.readout
    '300 sentences, after 1 word: the network says voiture with 70.0 %, the exact law 100.0 %'
    """
    words = sorted(law, key=law.__getitem__, reverse=True)
    rest = sorted(says, key=says.__getitem__, reverse=True)
    words = [*words, *(word for word in rest if word not in law)][:MOST]
    top = rest[0]
    axes = svg.Axes(LEFT, TOP, WIDTH, ROW * MOST, y_range=(MOST - 0.5, -0.5))
    bars = [(0, says.get(word, 0.0), k - 0.35, k + 0.35) for k, word in enumerate(words)]
    under = TOP + ROW * MOST
    parts = [
        svg.text(svg.PANEL / 2, 19, title, size=14),
        svg.text(8, 46, source, anchor="start"),
        svg.text(8, 66, " ".join(["so far:", *prefix[:SHORT], "..."]), anchor="start"),
        svg.text(8, 84, " ".join(["...", *prefix[SHORT:], "..."]), anchor="start")
        * bool(prefix[SHORT:]),
        axes.bars(bars, **svg.fill(NETWORK)),
        *(
            svg.marker(EXACT, axes.x(law.get(word, 0.0)), axes.y(k), 4)
            for k, word in enumerate(words)
        ),
        *(svg.text(LEFT - 6, axes.y(k) + 4, word, anchor="end") for k, word in enumerate(words)),
        axes.frame("probability of the next word (%)", "", (0, 0.25, 0.5, 0.75, 1)),
        svg.area_key(NETWORK, LEFT, under + 60),
        svg.marker_key(EXACT, LEFT + 128, under + 60),
    ]
    readout = (
        f"{title}: the network says {top} with {100 * says[top]:.1f} %, "
        f"the exact law {100 * law.get(top, 0.0):.1f} %"
    )
    return Frame((svg.picture(svg.PANEL, under + 84, *parts),), readout)
