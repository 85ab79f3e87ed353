"""The pictures of sliders on a dark page: each colour of the palette has a counterpart.

Pictures hold their colours as attributes, which a style sheet overrules; so pictures that were
stored long ago turn dark, too. The function light-dark() of CSS follows the theme.
"""

from __future__ import annotations

from calibkit.pictures import palette

INK, PAPER = "#e6e6e3", "#16181d"
# as far from the dark paper as the light ones are from white, and of the same hue
DARK = {
    palette.BLACK: INK,
    palette.GREY: "#a3a5a8",
    palette.ORANGE: "#f0b23c",
    palette.SKY: "#6cc0f2",
    palette.GREEN: "#2fc39a",
    palette.YELLOW: "#f0e442",
    palette.BLUE: "#5aaeea",
    palette.VERMILLION: "#f58a45",
    palette.PURPLE: "#dd97c0",
    "#8A3A6B": "#e8a3cd",  # of confidence, for words
    "#b34700": "#f58a45",  # those of vermillion and of green
    "#00795a": "#2fc39a",
    "#7a7a7a": "#8b8e92",  # of the dots of all networks
    "#FFFFFF": PAPER,
    "#fff": PAPER,
}
# lines and words, where the palette's colour is too light for them on white
THIN = {palette.SKY: "#2277ae", palette.ORANGE: "#9a6a00"}
GREYS = ("#c8c8c8", "#9b9b9b", "#6e6e6e", "#414141", "#141414")  # of the pixels of a digit
WHERE = ":is(.calibkit-explorer, .figure) svg"


def pale(colour: str, share: float = palette.PALE) -> str:
    """The colour of an area on dark paper: `share` of it, the rest is the paper.

    >>> pale("#16181d"), pale("#ffffff", 0.5)
    ('#16181d', '#8a8c8e')
    """
    pairs = ((int(colour[i : i + 2], 16), int(PAPER[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def counterparts() -> dict[str, str]:
    """The dark colour of every light one that a picture may hold."""
    areas = {palette.Role("", one).pale: pale(dark) for one, dark in DARK.items() if len(one) == 7}
    digits = {light: pale(INK, (place + 1) / len(GREYS)) for place, light in enumerate(GREYS)}
    return areas | digits | DARK


def style() -> str:
    """CSS: the colours of pictures on light and on dark pages."""
    rules = [
        f'{WHERE} [{name}="{light}"] {{ {name}: light-dark({light}, {dark}); }}'
        for light, dark in counterparts().items()
        for name in ("fill", "stroke")
    ]
    rules += [
        f'{WHERE} {part}[{name}="{light}"] {{ {name}: light-dark({thin}, {DARK[light]}); }}'
        for light, thin in THIN.items()
        for part, name in ((":is(text, .marker)", "fill"), ("", "stroke"))
    ]
    paper = f"body .calibkit-explorer .picture {{ background: light-dark(#fff, {PAPER}); }}"
    return "\n".join([paper, *rules]) + "\n"
