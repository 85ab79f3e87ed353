"""p-values of few or sure samples: exact, so that luck is not called a finding."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

import calibkit
from calibkit.auditing.advice import off
from calibkit.auditing.findings import NORMAL_FROM, law_of_hits, p_of_hits
from tests.auditing.test_audit import drawn


@pytest.mark.parametrize(("n", "chance", "hits"), [(20, 0.9, 15), (50, 0.97, 46), (200, 0.02, 9)])
def test_equal_chances_give_the_binomial_test(n, chance, hits):
    hit = np.arange(n) < hits
    own = p_of_hits(np.full(n, chance), hit)
    assert own == pytest.approx(binomtest(hits, n, chance).pvalue, rel=1e-9)


def test_the_law_is_that_of_all_outcomes_one_by_one():
    chance = np.array([0.9, 0.5, 0.2, 0.7])
    law = np.zeros(5)
    for outcome in np.ndindex(2, 2, 2, 2):
        parts = np.where(outcome, chance, 1 - chance)
        law[sum(outcome)] += parts.prod()
    assert law_of_hits(chance) == pytest.approx(law)
    many, law = np.random.default_rng(0).random(1000), np.ones(1)
    for p in many:  # of so many the law is put together
        law = np.convolve(law, [1 - p, p])
    assert law_of_hits(many) == pytest.approx(law, abs=1e-12)
    assert p_of_hits(np.empty(0), np.empty(0, dtype=bool)) == 1.0


def test_many_unsure_samples_have_the_normal_p():
    random = np.random.default_rng(1)
    chance = random.uniform(0.5, 0.9, 400)
    hit = random.random(400) < chance - 0.05
    variance = (chance * (1 - chance)).sum()
    assert variance > NORMAL_FROM
    z = (chance - hit).sum() / variance**0.5
    assert p_of_hits(chance, hit) == pytest.approx(2 * ndtr(-abs(z)))
    assert p_of_hits(chance, hit, np.full(400, 7.0)) == pytest.approx(2 * ndtr(-abs(z)))


@pytest.mark.parametrize(("kind", "those", "of", "most"), [
    ("groups", 2, 3, 2),
    ("groups", 9, 9, 8),
    ("predicted classes", 9, 20, 8),
    ("predicted classes", 10, 20, 3),
    ("predicted classes", 1, 2, 1),
])  # fmt: skip
def test_the_furthest_off_are_named_first_whichever_side_they_lie_on(kind, those, of, most):
    gaps = 0.01 * (1 + np.arange(of)) * (-1.0) ** np.arange(of)
    table = pd.DataFrame({"name": [f"c{k}" for k in range(of)], "gap": gaps, "flag": "off"})
    table.loc[those:, "flag"] = ["rare", *[""] * of][: of - those]
    (line,) = off(*((table, None) if kind == "groups" else (None, table)))
    names = [f"c{k} ({100 * gaps[k]:+.1f} points)" for k in range(those)[::-1][:most]]
    rest = f" and {those - most} more" if those > most else ""
    assert line == (
        f"{those} of {of} {kind} are off by more than luck explains: {', '.join(names)}{rest}"
    )


def test_groups_that_are_off_stand_in_the_headline_and_in_the_printed_lines():
    z, labels = drawn(4000, 4)
    group = np.array(list("abcd"))[np.arange(4000) % 4]
    sharp = (group == "a") | (group == "b")
    z[sharp], z[~sharp] = z[sharp] * 1.7, z[~sharp] / 1.5
    found = calibkit.audit(z, labels, groups=group)
    assert found.off == list("abcd")
    gaps = found.groups.set_index("name")["gap"].abs()
    first = f"warning: 4 of 4 groups are off by more than luck explains: {gaps.idxmax()} ("
    assert first in str(found)
    page = found.html()
    lead = page[page.index('class="lead"') :]
    assert "Groups off by more than luck: a, b, c, d." in lead[: lead.index("</p>")]
    assert "Nothing odd" not in page
