"""Clusters, weights and copies: repetition makes nothing surer."""

import numpy as np
import pandas as pd
import pytest
import torch

import calibkit
from calibkit import auditing
from calibkit.auditing.labels_and_groups import units_of
from tests.auditing.test_audit import drawn, values, warned
from tests.auditing.test_by_hand import johnson

Z, LABELS = drawn(600, 3, truth=0.75)
TIMES = 5
COPY = torch.arange(600).repeat_interleave(TIMES)


def test_copies_are_noticed_and_would_turn_luck_into_a_finding():
    z, labels = drawn(400, 3, seed=11)
    copy = torch.arange(400).repeat_interleave(TIMES)
    once, often = calibkit.audit(z, labels), calibkit.audit(z[copy], labels[copy])
    assert once.test.p_value > 0.05
    assert often.test.p_value < once.test.p_value / 3
    assert warned(often, "1,600 of 2,000 rows repeat an earlier row")
    assert "--cluster" in str(often)
    assert not warned(once, "repeat an earlier row")


def test_a_hundredth_of_the_rows_may_repeat_others_without_a_word():
    z, labels = drawn(1000, 3, truth=0.75)
    for again in (9, 10):
        rows = torch.cat([torch.arange(1000 - again), torch.arange(again)])
        found = calibkit.audit(z[rows] / 4, labels[rows])
        assert bool(warned(found, "repeat an earlier row")) == (again == 10)


def test_whole_weights_give_the_estimates_of_copies():
    weights = torch.from_numpy(np.random.default_rng(1).integers(0, 5, 600))
    copy = torch.arange(600).repeat_interleave(weights)
    weighted = calibkit.audit(Z, LABELS, weights=weights)
    copied = calibkit.audit(Z[copy], LABELS[copy])
    for name, value in values(copied).items():
        if name not in ("debiased_ece", "aurc"):  # whose bias and steps are of samples
            assert values(weighted)[name] == pytest.approx(value, abs=1e-9), name


def test_the_columns_that_are_named_are_taken_of_every_file(tmp_path):
    random, probs, labels = np.random.default_rng(0), Z.softmax(1).numpy(), LABELS.numpy()
    table = pd.DataFrame(probs, columns=["p_a", "p_b", "p_c"]).assign(patient=np.arange(600) // 3)
    table["truth"], table["label"] = np.array(list("abc"))[[labels, random.permutation(labels)]]
    table["weight"] = weights = random.random(600).round(3) + 0.1
    flatter = (Z / 2).softmax(1).numpy()
    second = table.assign(**{f"p_{name}": flatter[:, k] for k, name in enumerate("abc")})
    for name, rows in (("t", table[:400]), ("cal", table[400:]), ("other", second[:400])):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    files = {"calibration": tmp_path / "cal.csv", "other": tmp_path / "other.csv"}
    columns = {"label": "truth", "weights": "weight", "clusters": "patient"}
    found = auditing.audit_files(tmp_path / "t.csv", **columns, **files)
    units = {"weights": weights[:400], "clusters": table["patient"][:400]}
    apart = probs[400:], labels[400:], weights[400:]
    given = {"probs": probs[:400], "labels": labels[:400], "other": flatter[:400]}
    own = calibkit.audit(**given, calibration=apart, **units)
    assert found.clusters == 134
    assert found.cooling.value == pytest.approx(own.cooling.value, rel=1e-4)
    for name in ("measures", "cooled", "other", "difference"):
        for one, it in getattr(own, name).items():
            assert getattr(found, name)[one].value == pytest.approx(it.value, abs=1e-4), (name, one)


@pytest.mark.parametrize(("given", "words"), [
    ({"weights": [1.0] * 599}, "weights must have one entry per row, 600"),
    ({"weights": [-1.0] * 600}, "weights must be 0 or more"),
    ({"weights": [0.0] * 600}, "weights must not all be"),
    ({"clusters": [1] * 600}, "at least 2 values"),
    ({"clusters": [1, None] * 300}, "no value in row 1"),
    ({"clusters": [1, 2]}, "clusters must have one entry per row"),
])  # fmt: skip
def test_wrong_units_are_refused_in_words(given, words):
    with pytest.raises(ValueError, match=words):
        calibkit.audit(Z, LABELS, **given)


def test_units_are_worth_as_many_equal_ones():
    assert units_of(40).worth == 40
    assert units_of(40, weights=[3.0] * 40).worth == 40
    assert units_of(40, clusters=np.arange(40) // 4).worth == 10
    assert units_of(4, weights=[3.0, 1.0, 1.0, 1.0]).worth == 3  # 36 / 12
    assert units_of(4, weights=[3.0, 1.0, 1.0, 1.0]).effective(1.0, torch.ones(4)) == 3


def test_groups_of_a_binary_model_have_the_gap_of_the_event():
    random = np.random.default_rng(4)
    said, site = random.random(600), random.choice(["north", "south"], 600)
    came = (random.random(600) < 0.5 * said + 0.2 * (site == "south")).astype(int)
    found = calibkit.audit(probs=said, labels=came, groups=site)
    for group in found.groups.itertuples():
        off = said[site == group.name] - came[site == group.name]
        own = off.mean(), *johnson((np.ones(len(off)), np.arange(len(off))), off, 0.95)
        assert (group.event_gap, group.event_low, group.event_high) == pytest.approx(own)
    assert "gap of the event" in found.html()
    three = calibkit.audit(random.normal(size=(600, 3)), came, groups=site)
    assert "event_gap" not in three.groups
    assert "gap of the event" not in three.html()


@pytest.mark.parametrize(("lost", "said"), [(20, False), (21, True)])
def test_many_rows_that_are_left_out_are_told_with_both_numbers(lost, said, tmp_path):
    random = np.random.default_rng(5)
    scores = random.random(200)
    table = pd.DataFrame({"label": (random.random(200) < scores).astype(int), "p": scores})
    table.loc[: lost - 1, "p"] = np.nan
    table.to_csv(tmp_path / "gaps.csv", index=False)
    report = auditing.audit_files(tmp_path / "gaps.csv", drop_missing=True)
    words = f"{lost} of 200 rows are left out, for want of a label or a score"
    assert (words in str(report), words in report.html()) == (said, said)


def test_the_brier_score_of_hits_is_twice_the_mean_square_and_the_page_says_so():
    said, hit = np.linspace(0.05, 0.95, 400), np.arange(400) % 3 > 0
    found = calibkit.audit(said, hit.astype(int), kind="confidence")
    assert found.measures["brier"].value == pytest.approx(2 * ((said - hit) ** 2).mean())
    assert "Brier score: summed over right and wrong, twice the mean of" in found.html()
    assert "Brier score: summed" not in calibkit.audit(np.eye(3)[hit * 1] + 1.0, hit * 1).html()
