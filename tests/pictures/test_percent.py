"""Per cent: the same space everywhere, and nothing else is touched."""

import pytest

from calibkit.pictures.percent import spaced


@pytest.mark.parametrize("written", ["93%", "93 %", "93\u00a0%"])
@pytest.mark.parametrize("around", ["{}", "a {}, b", "<p>{}</p>", "a < b, {}, c > d", "({})"])
def test_each_way_to_write_it_becomes_one(around, written):
    assert spaced(around.format(written)) == around.format("93\u00a0%")


@pytest.mark.parametrize(
    "kept",
    [
        "<pre>93% a\n5 %</pre>",
        "<code class='a'>{:.0%} 5%</code>",
        "<script>let a = 5 % 3</script>",
        "<style>p { width: 50% }</style>",
        '<img alt="93%" width="50%">',
        "a%20b and 5%20c",
        "%pip",
        "93&nbsp;%",
    ],
)
def test_code_and_tags_stay(kept):
    assert spaced(kept) == kept
    assert spaced(f"1% {kept} 2 %") == f"1\u00a0% {kept} 2\u00a0%"
