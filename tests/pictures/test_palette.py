"""Roles: told apart by colour, by line and by hatch; words legible."""

import itertools

import matplotlib as mpl
import pytest

from calibkit.pictures import palette


def light(colour):
    """Relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour, other="white"):
    low, high = sorted(light(mpl.colors.to_rgb(c)) for c in (colour, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [palette.BLACK, palette.GREY])
def test_words_are_legible_on_white(colour):
    assert contrast(colour) >= 4.5


@pytest.mark.parametrize("role", palette.ROLES, ids=lambda role: role.words)
def test_black_words_and_bars_are_legible_on_every_area(role):
    assert contrast("black", role.pale) >= 4.5


def test_no_two_roles_of_lines_share_a_colour_or_a_dash_and_marker():
    drawn = [role for role in palette.ROLES if role not in (palette.DIAGONAL, palette.COUNTS)]
    for one, other in itertools.combinations(drawn, 2):
        assert one.colour != other.colour
        assert (one.dash, one.marker) != (other.dash, other.marker)


def test_over_and_under_differ_without_colour():
    assert palette.OVER.hatch
    assert palette.UNDER.hatch
    assert palette.OVER.hatch != palette.UNDER.hatch


def test_a_role_keeps_its_look_under_other_words():
    named = palette.ACCURACY.named("accuracy on clean labels")
    assert named.line() == palette.ACCURACY.line(label="accuracy on clean labels")


def test_seven_groups_differ_in_colour_and_marker():
    looks = [palette.group(i, str(i)) for i in range(7)]
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == 7
    assert palette.group(7, "again").colour == looks[0].colour
