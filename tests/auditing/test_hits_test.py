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


def test_the_furthest_off_is_named_first_whichever_side_it_lies_on():
    rows = [("sure", 0.04, "off"), ("shy", -0.09, "off"), ("rare", 0.2, "")]
    (line,) = off(pd.DataFrame(rows, columns=["name", "gap", "flag"]), None)
    assert line.endswith("explains: shy (-9.0 points), sure (+4.0 points)")


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


def test_predicted_classes_that_are_off_are_named_of_half_of_them_the_worst_three():
    z, labels = drawn(12_000, 20, seed=1)
    names = [f"class {k}" for k in range(20)]
    most = z * 1.5
    fifth, twelfth = z.argmax(1) == 5, z.argmax(1) == 12
    z[fifth], z[twelfth] = z[fifth] * 1.7, z[twelfth] * 2.5
    words = str(calibkit.audit(z, labels, class_names=names))
    line = "warning: 2 of 20 predicted classes are off by more than luck explains: class 12 (+"
    assert line in words
    assert ", class 5 (+" in words
    found = calibkit.audit(most, labels)
    off = found.classes[found.classes["flag"].str.contains("off")]
    assert len(off) >= 10
    (line,) = (text for text in found.warnings if "predicted classes" in text)
    worst = off["name"][off["gap"].abs().idxmax()]
    assert line.startswith(f"{len(off)} of 20 predicted classes are off")
    assert f"explains: {worst} (" in line
    assert line.count("points") == 3
    assert line.endswith(f" and {len(off) - 3} more")


def test_at_most_eight_classes_are_named():
    z, labels = drawn(40_000, 20)
    sharp = z.argmax(1) < 9
    z[sharp] *= 2.0
    found = calibkit.audit(z, labels)
    (line,) = (text for text in found.warnings if "predicted classes" in text)
    assert line.startswith("9 of 20 predicted classes are off")
    assert line.count("points") == 8
    assert line.endswith(" and 1 more")


def test_of_a_binary_model_the_predicted_class_that_is_off_is_named():
    z, labels = drawn(4000, 2)
    sharp = z.argmax(1) == 1
    z[sharp] *= 3.0
    found = calibkit.audit(z, labels)
    assert found.classes["flag"].tolist() == ["off", ""]
    assert "1 of 2 predicted classes are off by more than luck explains: 1 (+" in str(found)
