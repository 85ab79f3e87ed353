"""Roles: told apart by colour, by line and by hatch; words legible."""

import itertools

import matplotlib as mpl

from calibkit.pictures import palette


def light(colour):
    """Relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour, other="white"):
    low, high = sorted(light(mpl.colors.to_rgb(c)) for c in (colour, other))
    return (high + 0.05) / (low + 0.05)


def test_words_are_legible_on_white_and_on_every_area():
    assert contrast(palette.BLACK) >= 4.5
    assert contrast(palette.GREY) >= 4.5
    assert all(contrast("black", role.pale) >= 4.5 for role in palette.ROLES)


def test_roles_are_told_apart_without_colour():
    drawn = [role for role in palette.ROLES if role not in (palette.DIAGONAL, palette.COUNTS)]
    for one, other in itertools.combinations(drawn, 2):
        assert one.colour != other.colour
        assert (one.dash, one.marker) != (other.dash, other.marker)
    assert palette.OVER.hatch and palette.UNDER.hatch  # noqa: PT018
    assert palette.OVER.hatch != palette.UNDER.hatch


def test_groups_and_names():
    named = palette.ACCURACY.named("accuracy on clean labels")
    assert named.line() == palette.ACCURACY.line(label="accuracy on clean labels")
    looks = [palette.group(i, str(i)) for i in range(7)]
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == 7
    assert palette.group(7, "again").colour == looks[0].colour
