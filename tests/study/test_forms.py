"""The settings of the forms on photographs are the best of those that were tried."""

from study import forms
from study.photograph_grids import EXPERIMENTS, FORMS

from calibkit.course.experiments import strengths


def test_the_forms_on_photographs_have_the_best_of_the_stored_settings():
    table = strengths.stored(forms.PATH)
    assert sorted(table.seed.unique()) == list(strengths.SELECTION)
    for by in ("nll", "scaled_nll"):
        best = strengths.best(table, by)
        told = {kind: (one["strength"], one["decay"]) for kind, one in best.items()}
        assert told == {kind: (rate, decay) for kind, (_, rate, decay) in FORMS.items()}


def test_a_report_tells_the_settings_of_each_form():
    experiment = EXPERIMENTS["form"]
    for kind, (network, rate, decay) in FORMS.items():
        assert f"{kind} ({network}) lr {rate:g} and weight decay {decay:g}" in (
            experiment.own_settings
        )
