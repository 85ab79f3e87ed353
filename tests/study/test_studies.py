"""What all studies share: grids, stored tables, the choice of the best, a row made again."""

import pandas as pd
import pytest
from study import contests, rare_classes, selection, strange_images
from study.photograph_grids import FORMS

from calibkit.course.experiments import (
    mixed,
    notes,
    scanners,
    soft_targets,
    strengths,
    translated,
)
from calibkit.course.scale import budget

STUDIES = {
    "architectures": (contests.STUDY, {"kind": "dense", "place": "few"}),
    "choices": (selection.PARTS, {"choice": "entropy", "share": 0.3, "noise": 0.4}),
    "faded": (selection.FOCAL, {"strength": 3.0, "decay": 1e-3}),
    "mixed": (mixed.STUDY, {"way": "mixup", "strength": 0.2}),
    "notes": (notes.STUDY, {"way": "smoothing", "strength": 0.1}),
    "promised": (scanners.STUDY, {"way": "focal", "strength": 2.0}),
    "soft_targets": (soft_targets.STUDY, {"way": "MMCE, plain", "strength": 1.0}),
    "rare_classes": (rare_classes.STUDY, {"way": "weighted", "strength": 0.75}),
    "shifted": (strange_images.STUDY, {"way": "mixup", "strength": 0.4}),
    "translated": (selection.TOY, {"way": "focal", "strength": 2.0}),
    "architectures_photographs": (selection.ON_PHOTOGRAPHS, {}),
}
SIZES = {"translated": translated.budget}
QUIET = {"device": "cpu", "progress": False}


def trained(name, scale, grid, **options):
    """The rows of some settings, at a scale."""
    options = {} if name == "translated" else QUIET | options
    return STUDIES[name][0].train(SIZES.get(name, budget)(scale), grid, **options)


@pytest.mark.parametrize("name", STUDIES)
def test_a_stored_table_has_every_setting_once(name):
    study = STUDIES[name][0]
    table, keys = study.stored(), list(study.grid[0])
    wanted = pd.DataFrame(study.grid).sort_values(keys, ignore_index=True)[keys]
    found = table.sort_values(keys, ignore_index=True)[keys]
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert set(wanted.seed) == set(strengths.SELECTION)
    assert table.drop(columns=keys).gt(0).all(axis=None)
    assert study.name == name


def test_the_least_mean_is_chosen_and_an_end_of_the_grid_is_named():
    grid = strengths.settings({"a": (0.1, 0.2, 0.3), "b": (0.1, 0.2, 0.3)}, (1, 2, 3), (0, 1))
    table = pd.DataFrame(grid).assign(nll=lambda rows: 1.0 + rows.seed)
    best = (table.way == "a") & (table.strength == 0.2) & (table.decay == 2)
    table.loc[best, "nll"] = [1.3, 1.3]  # not the least of seed 0, but of the mean
    end = (table.way == "b") & (table.strength == 0.2) & (table.decay == 3)
    table.loc[end, "nll"] = 0.5
    found = strengths.chosen(table, "nll").set_index("way")
    assert tuple(found.loc["a", ["strength", "decay", "nll", "edge"]]) == (0.2, 2, 1.3, False)
    assert tuple(found.loc["b", ["strength", "decay", "nll", "edge"]]) == (0.2, 3, 0.5, True)
    assert strengths.best(table, "nll")["b"] == {"strength": 0.2, "decay": 3}


def test_the_forms_on_photographs_have_the_best_of_the_stored_settings():
    for by in ("nll", "scaled_nll"):
        best = strengths.best(selection.ON_PHOTOGRAPHS.stored(), by)
        told = {kind: (one["strength"], one["decay"]) for kind, one in best.items()}
        assert told == {kind: (rate, decay) for kind, (_, rate, decay) in FORMS.items()}


@pytest.mark.parametrize("name", ["mixed", "promised", "rare_classes", "translated"])
def test_a_smoke_of_each_kind_of_study(name):
    grid = STUDIES[name][0].grid
    made = trained(name, "smoke", grid[:1], cache=False)
    assert list(made)[: len(grid[0])] == list(grid[0])
    assert made.filter(like="nll").gt(0).all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in STUDIES if name != "architectures_photographs"])
def test_a_stored_row_is_made_again(name):
    study, where = STUDIES[name]
    table = study.stored()
    kept = table[(table[list(where)] == pd.Series(where)).all(axis=1)].iloc[[0]]
    (made,) = trained(name, "laptop", kept[list(study.grid[0])].to_dict("records")).to_dict(
        "records"
    )
    for measure in kept.filter(like="nll"):
        assert made[measure] == pytest.approx(kept[measure].item(), rel=0.02)


def test_a_contest_gets_its_least_mean():
    table = contests.stored()
    best = contests.chosen(table, "after T")
    assert len(best) == len(contests.contests())
    for row in best.itertuples():
        contest = pd.Series({name: getattr(row, name) for name in contests.CONTEST})
        same = (table[list(contests.CONTEST)] == contest).all(axis=1)
        means = table[same].groupby(["strength", "decay"]).scaled_nll.mean()
        assert means.idxmin() == (row.rate, row.decay)
