"""What a training records, against the same numbers taken by hand."""

import io
import math

import pytest
import torch
from torch import nn

from calibkit import metrics
from calibkit.lab import data, models, training

SPLITS = data.noisy_digits(200, noise=0.3, seed=0, test=300, calibration=50)
WATCH = {"train": SPLITS.train, "test": SPLITS.test}


def fit(epochs=4, model=lambda: models.mlp(64, 10, width=32), **options):
    options = {"device": "cpu", "progress": False, "watch": WATCH} | options
    return training.fit(model, SPLITS.train, epochs=epochs, **options)


@pytest.fixture(scope="module")
def run():
    return fit(keep=("test",), gradients=True)


def test_right_and_wrong_predictions_are_scored_apart(run):
    predictions, last = run.predict(SPLITS.test), run.history.iloc[-1]
    nll = nn.functional.cross_entropy(
        predictions.logits.double(), predictions.labels, reduction="none"
    )
    probs = predictions.logits.double().softmax(1)
    entropy = -(probs * probs.log()).sum(1)
    for name, part in (("correct", predictions.correct), ("wrong", ~predictions.correct)):
        assert last[f"test_nll_{name}"] == pytest.approx(nll[part].mean().item())
        assert last[f"test_entropy_{name}"] == pytest.approx(entropy[part].mean().item())
    assert last.test_entropy == pytest.approx(entropy.mean().item())
    assert last.test_confidence == pytest.approx(probs.amax(1).mean().item())
    assert torch.equal(predictions.posterior, SPLITS.test.posterior)
    share = predictions.correct.double().mean().item()
    whole = share * last.test_nll_correct + (1 - share) * last.test_nll_wrong
    assert last.test_nll == pytest.approx(whole)


def test_norms_are_those_of_the_last_layer_and_of_what_it_sees(run):
    last = run.history.iloc[-1]
    assert last.head_norm == pytest.approx(run.model.head.weight.detach().norm().item())
    features = run.model.features(SPLITS.test.inputs)
    assert last.test_feature_norm == pytest.approx(features.norm(dim=1).mean().item(), rel=1e-5)


def test_each_epoch_leaves_a_diagram_of_25_bins(run):
    assert [len(diagrams) for diagrams in run.diagrams.values()] == [4, 4]
    predictions = run.predict(SPLITS.train)
    expected = metrics.reliability(predictions.probs, predictions.labels, bins=25)
    assert torch.equal(run.diagrams["train"][-1].counts, expected.counts)
    assert torch.equal(run.diagrams["train"][-1].hits, expected.hits)


def test_logits_are_kept_where_it_was_asked_for(run):
    assert set(run.logits) == {"test"}
    assert run.logits["test"].shape == (4, 300, 10)
    assert torch.equal(run.logits["test"][-1], run.predict(SPLITS.test).logits)


def test_gradient_norms_are_those_of_each_batch(run):
    assert run.gradients.shape == (4, 2)  # 200 samples: 128 and 72
    plain = lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10))  # noqa: E731
    whole = fit(epochs=1, model=plain, batch_size=200, gradients=True, seed=3)
    torch.manual_seed(3)
    model = plain()
    nn.functional.cross_entropy(model(SPLITS.train.inputs), SPLITS.train.labels).backward()
    assert whole.gradients.item() == pytest.approx(model[1].weight.grad.norm().item(), rel=1e-5)


def test_the_loss_and_accuracy_of_an_epoch_are_means_over_its_samples():
    one = fit(epochs=1, lr=1e-12, watch={"same": SPLITS.train}).history.iloc[0]  # 128 and 72
    assert (one.train_loss, one.train_accuracy) == pytest.approx((one.same_nll, one.same_accuracy))


def test_nothing_wrong_means_nan_and_not_zero():
    few = SPLITS.train[:40]
    network = lambda: models.mlp(64, 10)  # noqa: E731
    run = training.fit(
        network, few, epochs=40, batch_size=8, watch={"train": few}, device="cpu", progress=False
    )
    assert run.history.train_accuracy.iloc[-1] == 1.0
    assert math.isnan(run.history.train_nll_wrong.iloc[-1])


def test_a_run_comes_back_from_its_stored_form():
    first = fit(epochs=2, keep=("test",), gradients=True, score={"test": SPLITS.test})
    file = io.BytesIO()
    torch.save(first.tensors(), file)
    file.seek(0)
    again = training.Run.from_tensors(first.trial, torch.load(file, weights_only=True))
    assert again.history.equals(first.history)
    assert again.seconds == first.seconds > 0
    assert not again.interrupted
    assert torch.equal(again.logits["test"], first.logits["test"])
    assert torch.equal(again.gradients, first.gradients)
    assert torch.equal(again.predictions["test"].logits, first.predictions["test"].logits)
    assert torch.equal(again.predictions["test"].posterior, SPLITS.test.posterior)
    assert torch.equal(again.diagrams["train"][1].hits, first.diagrams["train"][1].hits)
    ours, theirs = again.predict(SPLITS.test), first.predict(SPLITS.test)
    assert torch.equal(ours.logits, theirs.logits)
    assert not again.model.training


def test_scored_predictions_are_those_of_the_trained_network(run):
    scored = fit(epochs=2, score={"a": SPLITS.test, "b": SPLITS.calibration})
    assert list(scored.predictions) == ["a", "b"]
    for name, dataset in (("a", SPLITS.test), ("b", SPLITS.calibration)):
        assert torch.equal(scored.predictions[name].logits, scored.predict(dataset).logits)
        assert torch.equal(scored.predictions[name].labels, dataset.labels)
