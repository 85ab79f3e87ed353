"""What all calibrators share: the shape of fit and transform, scikit-learn's manners, bad input."""

import pickle

import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibkit.recalibration import (
    HistogramBinning,
    LeakageError,
    MatrixScaler,
    ShrunkMatrixScaler,
    StructuredMatrixScaler,
    StructuredVectorScaler,
    TemperatureScaler,
    VectorScaler,
    change_prior,  # noqa: F401
    logit_adjustment,  # noqa: F401
    restore,  # noqa: F401
    temperature_interval,  # noqa: F401
)
from tests import refusals
from tests.recalibration.samples import ALL, quick, scored


@pytest.mark.parametrize("calibrator", ALL)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_fit_returns_self_and_transform_keeps_type_and_shape(calibrator, dtype):
    logits, labels = scored(400, 3, dtype=dtype)
    fresh, _ = scored(50, 3, seed=1, dtype=dtype)
    fitted = quick(calibrator)
    assert fitted.fit(logits, labels) is fitted
    assert fitted.transform(fresh).dtype == dtype
    assert fitted.transform(fresh).shape == (50, 3)
    probs = fitted.probs(fresh)
    assert torch.allclose(probs, fitted.transform(fresh).softmax(1))
    assert torch.allclose(probs.double().sum(1), torch.ones(50).double(), atol=5e-3)


@pytest.mark.parametrize("calibrator", ALL)
def test_fitting_does_not_build_a_graph_or_change_the_input(calibrator):
    logits, labels = scored(200, 3)
    logits.requires_grad_()
    kept = logits.detach().clone()
    quick(calibrator).fit(logits, labels)
    assert torch.equal(logits.detach(), kept)
    assert logits.grad is None


@pytest.mark.parametrize("calibrator", [TemperatureScaler, VectorScaler, MatrixScaler])
def test_warnings_point_to_the_line_of_the_caller(calibrator):
    with pytest.warns(UserWarning, match="separate") as caught:
        calibrator().fit(torch.eye(3).repeat(4, 1), torch.arange(3).repeat(4))
    assert [w.filename for w in caught] == [__file__]


@pytest.mark.parametrize("calibrator", ALL)
def test_a_pickle_gives_the_same_map_and_holds_tensors_of_the_cpu(calibrator):
    fitted, fresh = quick(calibrator).fit(*scored(200, 3)), scored(50, 3, seed=1)[0]
    again = pickle.loads(pickle.dumps(fitted))
    assert torch.equal(again.transform(fresh), fitted.transform(fresh))
    assert repr(again) == repr(fitted)
    assert repr(calibrator()) == f"{calibrator.__name__}(not fitted)"
    assert repr(fitted).startswith(f"{calibrator.__name__}(")
    with pytest.raises(LeakageError):
        again.transform(scored(200, 3)[0])


@pytest.mark.parametrize("calibrator", ALL)
def test_probabilities_in_place_of_logits_are_refused(calibrator):
    logits, labels = scored(400, 4)
    message = r"^logits are probabilities, for every row sums to 1; pass logits, or probs\.log\(\)$"
    fitted = quick(calibrator).fit(logits.softmax(1).log(), labels)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        probs = logits.softmax(1).to(dtype)
        with pytest.raises(ValueError, match=message):
            calibrator().fit(probs, labels)
        for method in (fitted.transform, fitted.probs):
            with pytest.raises(ValueError, match=message):
                method(probs[:2])


SETTINGS = {
    TemperatureScaler: {"method": "ece_grid", "bins": 10, "limits": (0.5, 2.0)},
    MatrixScaler: {"off_diagonal": 0.5, "intercept": 1},
    ShrunkMatrixScaler: {"penalties": (0.01, 0.1), "folds": 3, "seed": 1},
    StructuredMatrixScaler: {"penalty": 0.5},
    StructuredVectorScaler: {"penalty": 2.0},
    HistogramBinning: {"bins": 5, "binning": "mass"},
}


@pytest.mark.parametrize("calibrator", ALL)
def test_a_clone_has_the_settings_and_not_the_fit(calibrator):
    settings = SETTINGS.get(calibrator, {})
    fitted = calibrator(**settings).fit(*scored(200, 3))
    again = clone(fitted)
    assert type(again) is calibrator
    assert fitted.get_params() == again.get_params() == settings
    with pytest.raises(NotFittedError):
        again.transform(GOOD)
    fresh = scored(50, 3, seed=1)[0]
    assert torch.equal(again.fit(*scored(200, 3)).probs(fresh), fitted.probs(fresh))


def test_settings_can_be_changed_and_a_fit_stays():
    scaler = TemperatureScaler().fit(*scored(200, 3))
    before = scaler.temperature
    assert scaler.set_params(method="ece_grid", bins=10) is scaler
    assert scaler.get_params() == {"method": "ece_grid", "bins": 10, "limits": (1e-3, 1e3)}
    assert scaler.temperature == before
    assert scaler.fit(*scored(200, 3)).temperature != before
    assert scaler.set_params().get_params(deep=False)["bins"] == 10
    for wrong in ({"bins": 0}, {"method": "lbfgs", "bins": 3}, {"temperature": 2.0}):
        with pytest.raises(ValueError, match="must be"):
            scaler.set_params(**wrong)
    assert scaler.bins == 10
    assert scaler.temperature_ == scaler.temperature
    assert [name for name in dir(scaler) if name.strip("_") + "_" == name] == ["temperature_"]
    assert not hasattr(scaler, "bins_")


NAN = float("nan")
GOOD = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0]])


@refusals.each("""
    f().fit(GOOD * NAN, [0, 1, 1]) -> ValueError: logits must be finite
    f().fit(GOOD, [0, 1, 2]) -> ValueError: labels
    f().transform(GOOD) -> ValueError: ...fit
    f().probs(GOOD) -> ValueError: ...fit
    f().module() -> ValueError: ...fit
""")
def test_bad_data_are_named(call, refused):
    for calibrator in ALL:
        refusals.check(call, refused, {**globals(), "f": calibrator})


@pytest.mark.parametrize("calibrator", ALL)
def test_bad_logits_after_a_fit_and_another_number_of_classes(calibrator):
    fitted = quick(calibrator).fit(*scored(100, 3))
    for method in (fitted.transform, fitted.probs):
        with pytest.raises(ValueError, match=r"^logits must be finite"):
            method(torch.full((2, 3), NAN))
        with pytest.raises(ValueError, match=r"logits must have the 3 classes .*\(3, 2\)"):
            method(GOOD)


test_bad_options_are_named = refusals.table("""
    TemperatureScaler("lbfgs") -> ValueError: method
    TemperatureScaler(limits=(0, 1)) -> ValueError: limits
    TemperatureScaler(limits=("a", 1)) -> TypeError: limits
    TemperatureScaler(limits=(2, 1)) -> ValueError: limits[1]
    TemperatureScaler(limits=3) -> TypeError: limits must be a pair
    MatrixScaler(off_diagonal=-1) -> ValueError: off_diagonal
    MatrixScaler(intercept=-1) -> ValueError: intercept
    StructuredVectorScaler(penalty=0) -> ValueError: penalty
    StructuredVectorScaler(penalty=float("inf")) -> ValueError: penalty
    MatrixScaler(off_diagonal=float("inf")) -> ValueError: off_diagonal
    HistogramBinning(binning="equal") -> ValueError: binning
    ShrunkMatrixScaler(penalties=[]) -> ValueError: penalties must hold at least one
    ShrunkMatrixScaler(penalties=[0.1, 0.0]) -> ValueError: penalties must lie in
    ShrunkMatrixScaler(folds=1) -> ValueError: folds must
    TemperatureScaler.of(0) -> ValueError: temperature must lie in
    temperature_interval(GOOD, [0, 1, 1], level=1.0) -> ValueError: level
    temperature_interval(GOOD.softmax(1), [0, 1, 1]) -> ValueError: logits are probabilities
    logit_adjustment(GOOD.softmax(1), old=[0.5, 0.5], new=[0.4, 0.6]) -> ValueError: logits are prob
    logit_adjustment(GOOD, old=[0.5, 0.4], new=[0.5, 0.5]) -> ValueError: old must hold fractions
    logit_adjustment(GOOD, old=[0.5, 0.5], new=[1.0]) -> ValueError: new must have one entry per
    logit_adjustment(GOOD, old=[0.5, 0.5], new=[1.0, 0.0]) -> ValueError: ...got [1.0, 0.0]
    change_prior(torch.ones(1, 3) / 3, old=[0.5, 0, 0.5], new=[1, 0, 0]) -> ValueError: ...class [1]
    change_prior([[0.0, 1], [1, 0]], old=[0.5, 0.5], new=[0, 1]) -> ValueError: ...but row 1 of
    restore({}) -> ValueError: state must name one of ['Affine'
""")
