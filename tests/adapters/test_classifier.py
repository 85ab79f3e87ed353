"""The estimator of scikit-learn: its manners, and CalibratedClassifierCV as the oracle."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from calibkit.adapters.classifier import CalibratedClassifier

MODELS = {
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(20, random_state=0),
    "svm": LinearSVC(random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=100)),
}


def problem(classes):
    if classes == 2:
        X, y = make_classification(1200, 12, n_informative=4, flip_y=0.2, random_state=0)
        return X, np.array(["no", "yes"])[y]
    X, y = load_digits(return_X_y=True)
    return X + np.random.default_rng(0).normal(0, 8, X.shape), y


@pytest.mark.filterwarnings("ignore")
def test_manners_of_scikit_learn():
    checks = check_estimator(CalibratedClassifier(LogisticRegression(), cv=3), on_skip=None)
    assert [one for one in checks if one["status"] not in ("passed", "skipped")] == []
    assert sum(one["status"] == "passed" for one in checks) > 50


@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize("name", MODELS)
def test_a_fitted_model_is_calibrated_as_scikit_learn_does(name, classes):
    X, y = problem(classes)
    train, cal, test = slice(0, 400), slice(400, 800), slice(800, None)
    model = clone(MODELS[name]).fit(X[train], y[train])
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="temperature", ensemble=False)
    expected = theirs.fit(X[cal], y[cal]).predict_proba(X[test])
    for given in (model, FrozenEstimator(model)):
        ours = CalibratedClassifier(given).fit(X[cal], y[cal])
        np.testing.assert_allclose(ours.predict_proba(X[test]), expected, rtol=0, atol=1e-6)
        assert (ours.predict(X[test]) == theirs.predict(X[test])).all()
        assert list(ours.classes_) == sorted(set(y))


@pytest.mark.parametrize("classes", [2, 10])
def test_another_model_is_fitted_out_of_fold_as_scikit_learn_does(classes):
    X, y = problem(classes)
    weights = np.random.default_rng(1).uniform(0, 3, 800)
    theirs = CalibratedClassifierCV(GaussianNB(), method="temperature", ensemble=False)
    for given in ({}, {"sample_weight": weights}):
        ours = CalibratedClassifier(GaussianNB()).fit(X[:800], y[:800], **given)
        expected = theirs.fit(X[:800], y[:800], **given).predict_proba(X[800:])
        np.testing.assert_allclose(ours.predict_proba(X[800:]), expected, rtol=0, atol=1e-6)


def test_bad_input():
    X, y = problem(2)
    model = GaussianNB().fit(X[y == "no"], y[y == "no"])
    with pytest.raises(ValueError, match=r"^y must hold classes of the model, got .*yes"):
        CalibratedClassifier(model).fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        CalibratedClassifier(GaussianNB()).fit(X, np.linspace(0, 1, len(X)))


def searched(shape):
    pipeline = make_pipeline(StandardScaler(), SVC(decision_function_shape=shape))
    return GridSearchCV(pipeline, {"svc__C": [1, 10]}, cv=3)


def test_scores_of_pairs_of_classes_are_refused():
    X, y = make_classification(450, 8, n_informative=5, n_classes=3, random_state=0)
    for fitted in (False, True):
        model = searched("ovo")
        model = model.fit(X[:300], y[:300]) if fitted else model
        with pytest.raises(ValueError, match="model must give one score a class"):
            CalibratedClassifier(model, cv=3).fit(X[300:], y[300:])
    fine = CalibratedClassifier(searched("ovr"), cv=3).fit(X[:300], y[:300])
    assert (fine.predict(X[300:]) == y[300:]).mean() > 0.5


class Turned(LogisticRegression):
    """Whose columns of scores stand in another order than its classes."""

    def decision_function(self, X):
        scores = super().decision_function(X)
        return -scores if scores.ndim == 1 else scores[:, ::-1]

    def predict(self, X):
        scores = super().decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]


@pytest.mark.parametrize("classes", [2, 5])
def test_scores_in_another_order_are_refused(classes):
    X, y = make_classification(300, 8, n_informative=6, n_classes=classes, random_state=0)
    with pytest.raises(ValueError, match="its scores mean something else"):
        CalibratedClassifier(Turned()).fit(X, y)


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_weights_go_to_models_that_take_them(model):
    X, y = make_classification(300, 8, random_state=0)
    weights = np.linspace(0.5, 2, 300)
    with pytest.warns(UserWarning, match="takes no sample_weight") as said:
        found = CalibratedClassifier(model).fit(X, y, sample_weight=weights)
    assert [one.filename for one in said] == [__file__]
    plain = CalibratedClassifier(model).fit(X, y)
    assert found.calibrator_.temperature != plain.calibrator_.temperature


def test_groups_stay_together_and_names_are_kept():
    X, y = make_classification(300, 8, random_state=0)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(8)])
    groups, cv = np.arange(300) // 5, GroupKFold(5)
    found = CalibratedClassifier(LogisticRegression(), cv=cv).fit(table, y, groups=groups)
    assert list(found.feature_names_in_) == list(table.columns)
    folds = list(cv.split(X, y, groups))
    same = CalibratedClassifier(LogisticRegression(), cv=folds).fit(table, y)
    assert found.calibrator_.temperature == same.calibrator_.temperature
    assert not hasattr(CalibratedClassifier(LogisticRegression()).fit(X, y), "feature_names_in_")


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), ShuffleSplit(3), RepeatedKFold()])
def test_folds_that_are_no_partition_are_refused(cv):
    X, y = make_classification(100, 8, random_state=0)
    with pytest.raises(ValueError, match="cv must leave out every row exactly once"):
        CalibratedClassifier(LogisticRegression(), cv=cv).fit(X, y)
