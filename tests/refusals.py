"""Tables of refused calls, a line each: `call -> ErrorType: what its message begins with`.

test_bad_settings = refusals.table('''
    losses.mmce(Z, Y, weight=-1) -> ValueError: weight must lie in
''')
"""

import builtins
import inspect

import pytest


def each(table: str):
    """The parameters `call` and `refused` of a test, from the lines of a table."""
    rows = [line.split(" -> ") for line in map(str.strip, table.splitlines()) if line]
    return pytest.mark.parametrize(("call", "refused"), rows, ids=[call for call, _ in rows])


def check(call: str, refused: str, names: dict) -> None:
    """`call` raises the error, whose message begins so (or has it, after `...`)."""
    kind, _, message = refused.partition(": ")
    with pytest.raises(getattr(builtins, kind)) as raised:
        eval(call, dict(names))
    said = str(raised.value)
    if message.startswith("..."):
        assert message[3:] in said
    else:
        assert said.startswith(message), said


def table(rows: str):
    """The test of a table, whose calls know the names of the module that it stands in."""
    names = inspect.currentframe().f_back.f_globals

    @each(rows)
    def test(call, refused):
        check(call, refused, names)

    return test
