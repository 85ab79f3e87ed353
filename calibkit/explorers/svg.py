"""SVG pictures as plain strings: built in under a millisecond, no figure to keep or to close."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from calibkit.palette import BLACK


def tag(name: str, content: str = "", **attributes) -> str:
    """One element; `stroke_width=2` becomes stroke-width="2", floats keep two decimals."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "middle", **more) -> str:
    """Words at a point; `anchor` is start, middle or end."""
    return tag(
        "text",
        escape(words),
        x=x,
        y=y,
        font_size=size,
        text_anchor=anchor,
        **{"fill": BLACK} | more,
    )


def picture(width: int, height: int, *parts: str, description: str) -> str:
    """A whole SVG on white, with its text description for those who cannot see it."""
    background = tag("rect", width=width, height=height, fill="#FFFFFF")
    return tag(
        "svg",
        tag("title", escape(description)) + background + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        font_family="system-ui, sans-serif",
    )


@dataclass(frozen=True)
class Axes:
    """A rectangle of the picture (pixels) and the data range that it shows."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)

    def x(self, value: float) -> float:
        """Pixel of a data value along x."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * self.width

    def y(self, value: float) -> float:
        """Pixel of a data value along y; data grow upwards, pixels downwards."""
        low, high = self.y_range
        return self.top + (high - value) / (high - low) * self.height

    def bar(self, x0: float, x1: float, y0: float, y1: float, **style) -> str:
        """A rectangle between two data points, whichever of y0 and y1 is higher."""
        low, high = sorted((y0, y1))
        return tag(
            "rect",
            x=self.x(x0),
            y=self.y(high),
            width=self.x(x1) - self.x(x0),
            height=self.y(low) - self.y(high),
            **style,
        )

    def line(self, x0: float, y0: float, x1: float, y1: float, **style) -> str:
        """A straight line between two data points."""
        style = {"stroke": BLACK} | style
        return tag("line", x1=self.x(x0), y1=self.y(y0), x2=self.x(x1), y2=self.y(y1), **style)

    def frame(self, x_label: str, y_label: str, x_ticks=(), y_ticks=()) -> str:
        """The box with its ticks and labels."""
        box = tag(
            "rect",
            x=self.left,
            y=self.top,
            width=self.width,
            height=self.height,
            fill="none",
            stroke=BLACK,
        )
        bottom, middle = self.top + self.height, self.top + self.height / 2
        across = [text(self.x(v), bottom + 16, f"{v:g}") for v in x_ticks]
        up = [text(self.left - 6, self.y(v) + 4, f"{v:g}", anchor="end") for v in y_ticks]
        turn = f"rotate(-90 {self.left - 40:g} {middle:g})"
        labels = [
            text(self.left + self.width / 2, bottom + 34, x_label),
            text(self.left - 40, middle, y_label, transform=turn),
        ]
        return "".join([box, *across, *up, *labels])


def _value(value) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
