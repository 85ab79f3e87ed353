"""The settings of the forms on photographs are the best of those that were tried."""

from study import forms
from study.photograph_grids import FORMS

from calibkit.course.experiments import strengths


def test_the_forms_on_photographs_have_the_best_of_the_stored_settings():
    for by in ("nll", "scaled_nll"):
        best = strengths.best(forms.STUDY.stored(), by)
        told = {kind: (one["strength"], one["decay"]) for kind, one in best.items()}
        assert told == {kind: (rate, decay) for kind, (_, rate, decay) in FORMS.items()}
