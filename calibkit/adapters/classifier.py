"""A classifier and the map that recalibrates it, as one estimator of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from calibkit import torch_defaults, validate
from calibkit.recalibration import Calibrator, TemperatureScaler

LEAST = 1e-12  # is added to a probability before its logarithm is taken, as in scikit-learn


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of scikit-learn whose probabilities a map of `recalibration` corrects.

    model: with `decision_function` or `predict_proba`. One that is fitted (`FrozenEstimator` keeps
        it so in `clone`) stays as it is, and `fit` takes calibration data that it has not seen. Any
        other is cloned and fitted on all rows, and the map on its predictions of rows left out, in
        `cv` folds, as `CalibratedClassifierCV(ensemble=False)` does.
    calibrator: a map, by default one temperature. cv: folds, as in scikit-learn.

    `fit` sets `model_`, `calibrator_` and `classes_`. `predict_proba` also answers on the rows of
    the fit, as all of scikit-learn does: judge it on others.

    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="prior").fit([[0]] * 4, [0, 0, 0, 1])
    >>> from calibkit.recalibration import VectorScaler
    >>> fitted = CalibratedClassifier(model, VectorScaler()).fit([[0]] * 4, [0, 1, 0, 1])
    >>> fitted.predict_proba([[0]]).round(4).tolist()  # 1 of 4 in training, 2 of 4 in calibration
    [[0.5, 0.5]]
    """

    def __init__(self, model: Any, calibrator: Calibrator | None = None, *, cv: Any = 5):
        self.model, self.calibrator, self.cv = model, calibrator, cv

    @torch_defaults.entry(grad=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the map, and the model if it is not fitted.

        sample_weight: (n,) count in both; a model that takes none is fitted without, with a
        warning, as scikit-learn does. groups: (n,) for a `cv` that keeps them together.
        Raises ValueError for a `cv` that does not leave out every row once, and for a model whose
        scores do not mean its predictions: such as those of pairs of classes.
        """
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        weights = None
        if sample_weight is not None:
            weights = validate.weights(sample_weight, n=len(y)).numpy()
        if _is_fitted(self.model):
            self.model_ = self.model
            logits = self._scores(X)
        else:
            logits = self._out_of_fold(X, y, weights, groups)
        self.classes_ = self.model_.classes_
        unknown = set(np.unique(y)) - set(self.classes_)
        if unknown:
            raise ValueError(f"y must hold classes of the model, got {sorted(unknown)} as well")
        if logits.shape[1] != len(self.classes_):  # such as those of pairs of classes
            raise ValueError(
                f"model must give one score a class, {len(self.classes_)}, got {logits.shape[1]}; "
                'of an SVC ask for decision_function_shape="ovr"'
            )
        own = logits if self.model_ is self.model else self._scores(X)
        _refuse_other_scores(own.numpy(), np.searchsorted(self.classes_, self.model_.predict(X)))
        labels = torch.from_numpy(np.searchsorted(self.classes_, y))
        calibrator = TemperatureScaler() if self.calibrator is None else clone(self.calibrator)
        self.calibrator_ = calibrator.fit(logits, labels, weights=weights)
        return self

    @torch_defaults.entry
    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, K) float64 recalibrated probabilities, columns as in `classes_`."""
        check_is_fitted(self)
        return self.calibrator_.probs(self._scores(X), allow_fitted=True).numpy()

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the class of the largest probability."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _scores(self, X: Any) -> torch.Tensor:
        method = _method(self.model_)
        return _logits(getattr(self.model_, method)(X), method)

    def _out_of_fold(self, X: Any, y: np.ndarray, weights, groups: Any) -> torch.Tensor:
        given, method = {}, _method(self.model)
        if weights is not None and has_fit_parameter(self.model, "sample_weight"):
            given = {"sample_weight": weights}
        elif weights is not None:
            name = type(self.model).__name__
            text = f"{name} takes no sample_weight: it is fitted without, and the map alone with"
            warnings.warn(text, UserWarning, stacklevel=4)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, groups))
        left_out = np.concatenate([test for _, test in folds])
        if not np.array_equal(np.sort(left_out), np.arange(len(y))):
            raise ValueError(
                f"cv must leave out every row exactly once, as KFold does, got {self.cv}; or fit "
                "the model on other rows first, and pass it fitted"
            )
        scores = cross_val_predict(self.model, X, y, cv=folds, method=method, params=given)
        self.model_ = clone(self.model).fit(X, y, **given)
        return _logits(scores, method)

    def __sklearn_tags__(self):
        tags, of_model = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags.sparse = of_model.input_tags.sparse
        tags.input_tags.allow_nan = of_model.input_tags.allow_nan
        return tags

    @property
    def n_features_in_(self) -> int:
        """As the fitted model has it."""
        return self.model_.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """As the fitted model has them, where it was fitted on a table."""
        return self.model_.feature_names_in_


def _refuse_other_scores(scores: np.ndarray, predicted: np.ndarray) -> None:
    """Refuse scores (n, K) that are not those of the classes, as the model's predictions tell.

    Of three classes and more most rows that are predicted as a class must have their largest score
    there; not all, as ties of votes are broken otherwise. Of two, whose threshold may be any, those
    predicted as the second must have the larger mean score of it.
    """
    classes = scores.shape[1]
    present = [k for k in range(classes) if (predicted == k).any()]
    if classes == 2:
        of_second = [scores[predicted == k, 1].mean() for k in present]
        agree = len(present) < 2 or of_second[1] >= of_second[0]
    else:
        best = scores.argmax(axis=1)
        agree = np.mean([(best[predicted == k] == k).mean() for k in present]) >= 0.5
    if not agree:
        raise ValueError(
            "model must give one score a class, the largest for the class that it predicts, and "
            'its scores mean something else; of an SVC ask for decision_function_shape="ovr"'
        )


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _method(model: Any) -> str:
    return "decision_function" if hasattr(model, "decision_function") else "predict_proba"


def _logits(scores: np.ndarray, method: str) -> torch.Tensor:
    """(n, K) float64 logits of decision values (n,) or (n, K), or of probabilities (n, K)."""
    z = validate.as_tensor("scores", np.asarray(scores, dtype=np.float64))
    if method == "predict_proba":
        return (z + LEAST).log()
    return torch.stack([-z, z], dim=1) if z.ndim == 1 else z
