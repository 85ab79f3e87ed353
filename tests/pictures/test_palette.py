"""Roles: told apart by colour, by line and by hatch; words legible."""

import itertools

from calibkit.pictures import palette


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
