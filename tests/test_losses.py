import inspect
import math
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from netcal.metrics import MMCE
from netcal.regularization import MMCEPenalty
from torch.autograd import gradcheck, gradgradcheck

from calibkit import devices, losses
from tests import refusals

LOSSES = {
    "cross_entropy": losses.cross_entropy,
    "label_smoothing": losses.label_smoothing,
    "label_smoothing K-1": lambda *a, **k: losses.label_smoothing(*a, divisor="K-1", **k),
    "confidence_penalty": losses.confidence_penalty,
    "brier": losses.brier,
    "mmce": losses.mmce,
    "mmce plain": lambda *a, **k: losses.mmce(*a, variant="plain", **k),
    "mmce squared": lambda *a, **k: losses.mmce(*a, variant="squared", **k),
    "focal 0.5": lambda *a, **k: losses.focal(*a, gamma=0.5, **k),
    "focal 3": lambda *a, **k: losses.focal(*a, gamma=3.0, **k),
    "flsd": losses.flsd,
    "flsd 5-3-2": lambda *a, **k: losses.flsd(*a, gammas="5-3-2", **k),
    "dual_focal": lambda *a, **k: losses.dual_focal(*a, gamma=5.0, **k),
    "forward_corrected": lambda *a, **k: losses.forward_corrected(
        *a, transition=devices.moved(noise_for(*a), getattr(a[0], "device", "cpu")), **k
    ),
}
SOFT = [name for name in LOSSES if name not in ("dual_focal", "forward_corrected")]
UNWEIGHTED = ("confidence_penalty", "brier", "mmce", "forward_corrected")
WEIGHTED = [name for name in LOSSES if name.split()[0] not in UNWEIGHTED]


def even_noise(classes, rate=0.3):
    return (1 - rate) * torch.eye(classes, dtype=torch.float64) + rate / classes


def noise_for(logits, *rest):
    """A matrix of the right size; of some size where there is none, for tests of bad input."""
    shape = getattr(logits, "shape", ())
    return even_noise(shape[-1] if len(shape) else 2)


def batch(n=12, classes=5, dtype=torch.float64, seed=0, scale=2.0):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, classes, generator=generator, dtype=dtype) * scale
    return logits, torch.randint(classes, (n,), generator=generator)


def soft_rows(n=12, classes=5, dtype=torch.float64, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, classes, generator=generator, dtype=dtype).softmax(1)


def naive(name, logits, target):
    """Per-sample losses by loops over float64 lists, from the definitions."""
    out = []
    for z, y in zip(logits.double().tolist(), target.tolist(), strict=True):
        total = sum(math.exp(v) for v in z)
        p = [math.exp(v) / total for v in z]
        q = [float(k == y) for k in range(len(p))] if isinstance(y, int) else y
        out.append(NAIVE[name](p, q))
    return torch.tensor(out, dtype=torch.float64)


def gamma53(p):
    return 5 if p < 0.2 else 3


def gamma532(p):
    return 5 if p < 0.2 else 3 if p < 0.5 else 2


def by_class(term):
    return lambda p, q: sum(qk * term(pk) for pk, qk in zip(p, q, strict=True))


def smoothed(p, q, alpha, others):
    classes = len(p)
    if others:  # alpha / (K - 1) to each class other than the label
        s = [qk * (1 - alpha) + (1 - qk) * alpha / (classes - 1) for qk in q]
    else:
        s = [qk * (1 - alpha) + alpha / classes for qk in q]
    return -sum(sk * math.log(pk) for sk, pk in zip(s, p, strict=True))


def dual(p, q):
    own = sum(pk * qk for pk, qk in zip(p, q, strict=True))
    below = max([pk for pk in p if pk < own], default=0.0)
    return -((1 - own + below) ** 5) * math.log(own)


NAIVE = {
    "cross_entropy": by_class(lambda p: -math.log(p)),
    "label_smoothing": lambda p, q: smoothed(p, q, 0.05, False),
    "label_smoothing K-1": lambda p, q: smoothed(p, q, 0.05, True),
    "confidence_penalty": lambda p, q: sum(
        -qk * math.log(pk) + 0.1 * pk * math.log(pk) for pk, qk in zip(p, q, strict=True)
    ),
    "brier": lambda p, q: sum((pk - qk) ** 2 for pk, qk in zip(p, q, strict=True)),
    "focal 0.5": by_class(lambda p: -((1 - p) ** 0.5) * math.log(p)),
    "focal 3": by_class(lambda p: -((1 - p) ** 3) * math.log(p)),
    "flsd": by_class(lambda p: -((1 - p) ** gamma53(p)) * math.log(p)),
    "flsd 5-3-2": by_class(lambda p: -((1 - p) ** gamma532(p)) * math.log(p)),
    "dual_focal": dual,
    "forward_corrected": lambda p, q: -math.log(0.7 * p[q.index(1)] + 0.3 / len(p)),
}


# --- definitions and oracles -----------------------------------------------------------------


def test_every_loss_is_in_the_tables():
    functions = dict(inspect.getmembers(losses, inspect.isfunction))
    reducing = {n for n, f in functions.items() if "reduction" in inspect.signature(f).parameters}
    public = {name for name in reducing if not name.startswith("_")}
    assert public == {name.split()[0] for name in LOSSES}
    assert public - {"mmce"} == {name.split()[0] for name in NAIVE}  # mmce is of a whole batch


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("name", NAIVE)
def test_definition_on_labels(name, classes):
    logits, target = batch(60, classes)
    each = LOSSES[name](logits, target, reduction="none")
    torch.testing.assert_close(each, naive(name, logits, target), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SOFT)
def test_definition_on_soft_labels(name):
    logits, target = batch()
    soft = LOSSES[name](logits, F.one_hot(target, 5).double())
    torch.testing.assert_close(soft, LOSSES[name](logits, target), rtol=1e-12, atol=1e-14)
    if name in NAIVE:
        each = LOSSES[name](logits, soft_rows(), reduction="none")
        torch.testing.assert_close(each, naive(name, logits, soft_rows()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_reductions_agree(name):
    logits, target = batch()
    each = LOSSES[name](logits, target, reduction="none")
    assert each.shape == (12,)
    torch.testing.assert_close(LOSSES[name](logits, target, reduction="sum"), each.sum())
    torch.testing.assert_close(LOSSES[name](logits, target), each.mean())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_weighted_smoothing_is_torchs(reduction):
    logits, target = batch()
    weights = torch.tensor([0.2, 0.5, 1.0, 1.3, 2.0], dtype=torch.float64)
    theirs = F.cross_entropy(logits, target, weights, label_smoothing=0.3, reduction=reduction)
    options = {"class_weights": weights, "reduction": reduction}
    ours = losses.label_smoothing(logits, target, alpha=0.3, **options)
    torch.testing.assert_close(ours, theirs)


def test_mmce_is_netcals():
    logits, target = batch(80, 4)
    target[:40] = logits[:40].argmax(1)
    plain = MMCE().measure(logits.softmax(1).numpy(), target.numpy())
    assert losses.mmce_penalty(logits, target, variant="plain").item() == pytest.approx(
        plain, abs=1e-9
    )
    weighted = MMCEPenalty()(logits, target)
    torch.testing.assert_close(losses.mmce_penalty(logits, target), weighted, rtol=0, atol=1e-6)
    together = losses.cross_entropy(logits, target) + 3 * weighted
    torch.testing.assert_close(losses.mmce(logits, target, weight=3), together, rtol=0, atol=1e-6)


def test_mmce_of_a_wide_kernel():
    logits, target = batch(30, 3)
    ce = losses.cross_entropy(logits, target)
    # infinitely wide, the kernel is 1 and the plain form is |accuracy - mean confidence|
    confidence, predicted = logits.softmax(1).max(1)
    gap = ((predicted == target).double().mean() - confidence.mean()).abs()
    wide = losses.mmce_penalty(logits, target, variant="plain", width=1e12)
    torch.testing.assert_close(wide, gap)
    torch.testing.assert_close(
        losses.mmce(logits, target, variant="plain", width=1e12, weight=1), ce + gap
    )


@pytest.mark.parametrize("variant", ["plain", "weighted"])
def test_mmce_on_soft_labels(variant):
    logits = torch.tensor([[2.0, 0.0], [0.5, 0.0]], dtype=torch.float64)
    target = torch.tensor([[0.1, 0.9], [0.3, 0.7]], dtype=torch.float64)  # .4 hits, 1.6 misses
    c, a = logits.softmax(1)[:, 0].tolist(), (0.1, 0.3)
    if variant == "plain":
        v = [(hit - conf) / 2 for hit, conf in zip(a, c, strict=True)]
    else:
        v = [h * (1 - conf) / 0.4 - (1 - h) * conf / 1.6 for h, conf in zip(a, c, strict=True)]
    cross = math.exp(-abs(c[0] - c[1]) / 0.4)
    expected = math.sqrt(v[0] ** 2 + v[1] ** 2 + 2 * v[0] * v[1] * cross)
    penalty = losses.mmce_penalty(logits, target, variant=variant)
    assert penalty.item() == pytest.approx(expected, rel=1e-12)
    together = losses.cross_entropy(logits, target) + 0.5 * penalty
    torch.testing.assert_close(losses.mmce(logits, target, variant=variant, weight=0.5), together)


def test_mmce_squared_divides_each_pair_twice():
    logits, target = batch(40, 4)
    target[:25] = logits[:25].argmax(1)
    sure, predicted = logits.softmax(1).max(1)
    hit = predicted == target
    v = torch.where(hit, (1 - sure) / hit.sum() ** 2, -sure / (~hit).sum() ** 2)
    each = list(zip(v.tolist(), sure.tolist(), strict=True))
    total = sum(a * b * math.exp(-abs(s - t) / 0.4) for a, s in each for b, t in each)
    found = losses.mmce_penalty(logits, target, variant="squared").item()
    assert found == pytest.approx(math.sqrt(total), rel=1e-9)
    assert found < losses.mmce_penalty(logits, target).item() / 5


@pytest.mark.parametrize("hit", [True, False])
def test_mmce_squared_asks_nothing_of_one_sided_batches(hit):
    logits = torch.tensor([[2.0, 0.0], [1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    penalty = losses.mmce_penalty(logits, torch.tensor([1 - hit] * 2), variant="squared")
    assert penalty.item() < 1e-100
    (gradient,) = torch.autograd.grad(penalty, logits)
    assert gradient.abs().max() == 0


# --- focal loss ------------------------------------------------------------------------------


def test_gamma_per_sample():
    logits, target = batch(3, 4)
    gamma = torch.tensor([0.0, 1.5, 4.0])
    each = losses.focal(logits, target, gamma=gamma, reduction="none")
    soft = losses.focal(logits, F.one_hot(target, 4).double(), gamma=gamma, reduction="none")
    dual_each = losses.dual_focal(logits, target, gamma=gamma, reduction="none")
    for i, value in enumerate(gamma.tolist()):
        row = logits[i : i + 1], target[i : i + 1]
        assert each[i].item() == pytest.approx(losses.focal(*row, gamma=value).item())
        assert dual_each[i].item() == pytest.approx(losses.dual_focal(*row, gamma=value).item())
    torch.testing.assert_close(soft, each)
    assert losses.focal(logits.float(), target, gamma=gamma.double()).dtype == torch.float32
    assert losses.focal(logits, target, gamma=torch.tensor(2.0)) == losses.focal(
        logits, target, gamma=2
    )


@pytest.mark.parametrize("gammas", losses.FLSD_FORMS)
def test_flsd_gradient_is_that_of_fixed_gamma(gammas):
    logits, target = batch(200, 6)
    own = logits.softmax(1).gather(1, target[:, None]).squeeze(1).tolist()
    rule = gamma53 if gammas == "5-3" else gamma532
    gamma = torch.tensor([float(rule(p)) for p in own])
    assert len(set(gamma.tolist())) == len(gammas.split("-"))  # every step is met
    logits.requires_grad_()
    (ours,) = torch.autograd.grad(losses.flsd(logits, target, gammas=gammas), logits)
    (fixed,) = torch.autograd.grad(losses.focal(logits, target, gamma=gamma), logits)
    torch.testing.assert_close(ours, fixed, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_flsd_steps_hold_their_upper_value_on_the_edge(dtype):
    for classes, gammas, gamma in ((5, "5-3", 3), (5, "5-3-2", 3), (2, "5-3-2", 2)):
        even = torch.zeros(3, classes, dtype=dtype)  # p is 1/5 or 1/2 exactly
        target = torch.zeros(3, dtype=torch.long)
        expected = losses.focal(even, target, gamma=gamma)
        torch.testing.assert_close(losses.flsd(even, target, gammas=gammas), expected)
        one_hot = F.one_hot(target, classes).to(dtype)
        torch.testing.assert_close(losses.flsd(even, one_hot, gammas=gammas), expected)


def test_near_certainty_keeps_its_digits():
    logits = torch.tensor([[30.0, 0.0]], dtype=torch.float64)
    value = losses.focal(logits, torch.tensor([0]), gamma=1.0).item()
    ce = math.log1p(math.exp(-30))
    assert value == pytest.approx(-math.expm1(-ce) * ce, rel=1e-2)  # 1 - p alone has 3 digits


# --- gradients, tracing, precision -----------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name):
    logits, target = batch(4, 4)
    logits.requires_grad_()
    assert gradcheck(lambda z: LOSSES[name](z, target), logits)
    assert gradgradcheck(lambda z: LOSSES[name](z, target, reduction="none"), logits)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [30.0, 1e4])
def test_saturated_logits(name, size):
    logits = torch.zeros(4, 3)
    logits[:, 0] = torch.tensor([size, -size, size, 0.0])
    logits[2, 1] = size
    target = torch.tensor([0, 0, 2, 1])
    for y in (target, target.flip(0), F.one_hot(target, 3).float())[: 2 + (name in SOFT)]:
        z = logits.clone().requires_grad_()
        loss = LOSSES[name](z, y)
        (grad,) = torch.autograd.grad(loss, z, create_graph=True)
        assert torch.isfinite(loss)
        assert torch.isfinite(grad).all()
        (second,) = torch.autograd.grad(grad.square().sum(), z)
        assert torch.isfinite(second).all()


@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.5, 1.0, 5.0])
def test_certainty_is_free_of_loss_and_gradient(gamma):
    logits = torch.tensor([[1e4, 0.0, -1e4]], requires_grad=True)
    for loss in (losses.focal, losses.dual_focal):
        value = loss(logits, torch.tensor([0]), gamma=gamma)
        (grad,) = torch.autograd.grad(value, logits)
        assert value.item() == pytest.approx(0, abs=1e-30)
        assert torch.equal(grad, torch.zeros(1, 3))


def test_compiles_whole():
    torch.compiler.reset()
    logits, target = batch(dtype=torch.float32)
    soft, weights = soft_rows(dtype=torch.float32), torch.linspace(0.5, 1.5, 5)

    def every(z):
        hard = [loss(z, target) for loss in LOSSES.values()]
        weighted = losses.flsd(z, soft, class_weights=weights)
        return torch.stack([*hard, weighted, losses.mmce(z, soft)])

    pairs = []
    for losses_of in (every, torch.compile(every, backend="eager", fullgraph=True)):
        z = logits.clone().requires_grad_()
        values = losses_of(z)
        pairs.append((values.detach(), *torch.autograd.grad(values.square().sum(), z)))
    torch.testing.assert_close(*pairs)


def test_a_compiled_loss_ignores_no_label():
    torch.compiler.reset()
    compiled = torch.compile(losses.cross_entropy, backend="eager", fullgraph=True)
    with pytest.raises((IndexError, RuntimeError), match="-100"):
        compiled(torch.zeros(2, 3), torch.tensor([0, -100]))


@pytest.mark.parametrize("name", LOSSES)
def test_function_transforms(name):
    stacked = torch.stack([batch(seed=seed)[0] for seed in range(3)])
    for y in (batch()[1], soft_rows())[: 1 + (name in SOFT)]:
        together = torch.func.vmap(torch.func.grad(partial(LOSSES[name], target=y)))(stacked)
        for logits, grad in zip(stacked, together, strict=True):
            z = logits.clone().requires_grad_()
            (alone,) = torch.autograd.grad(LOSSES[name](z, y), z)
            torch.testing.assert_close(grad, alone)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_precision(name, dtype):
    logits, target = batch(40, 10)
    low = logits.to(dtype).requires_grad_()
    loss = LOSSES[name](low, target)
    assert loss.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    loss.backward()
    assert low.grad.dtype == dtype
    exact = LOSSES[name](low.detach().double(), target).item()
    assert loss.item() == pytest.approx(exact, rel=1e-5)


# --- noisy labels ----------------------------------------------------------------------------

LOPSIDED = torch.tensor([[0.6, 0.3, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]], dtype=torch.float64)


def test_forward_corrected_reads_the_matrix_by_rows():
    logits = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    chances = (0.2 * 0.6 + 0.3 * 0.25, 0.2 * 0.3 + 0.5 + 0.3 * 0.25, 0.2 * 0.1 + 0.3 * 0.5)
    for label, chance in enumerate(chances):
        loss = losses.forward_corrected(logits, torch.tensor([label]), transition=LOPSIDED)
        assert loss.item() == pytest.approx(-math.log(chance))


def test_forward_corrected_without_noise_is_cross_entropy():
    logits, target = batch()
    without = losses.forward_corrected(logits, target, transition=torch.eye(5))
    torch.testing.assert_close(without, losses.cross_entropy(logits, target))
    distant = torch.tensor([[0.0, 500.0]])  # e^-500 is 0 in every type
    assert losses.forward_corrected(distant, torch.tensor([0]), transition=torch.eye(2)) == 500


# --- class weights and schedules -------------------------------------------------------------


@pytest.mark.parametrize("name", WEIGHTED)
def test_class_weights(name):
    logits, target = batch()
    weights = torch.tensor([0.2, 0.5, 1.0, 1.3, 2.0])
    loss = LOSSES[name]
    each = loss(logits, target, class_weights=weights, reduction="none")
    own = weights.double()[target]
    if not name.startswith("label_smoothing"):  # there other classes carry their own weight
        torch.testing.assert_close(each, own * loss(logits, target, reduction="none"))
    torch.testing.assert_close(loss(logits, target, class_weights=weights), each.sum() / own.sum())
    torch.testing.assert_close(
        loss(logits, target, class_weights=weights, reduction="sum"), each.sum()
    )
    torch.testing.assert_close(
        loss(logits, target, class_weights=torch.ones(5)), loss(logits, target)
    )
    if name in SOFT:
        one_hot = F.one_hot(target, 5).double()
        for reduction in ("mean", "sum", "none"):
            options = {"class_weights": weights, "reduction": reduction}
            torch.testing.assert_close(
                loss(logits, one_hot, **options), loss(logits, target, **options)
            )


def test_class_weights_on_soft_labels():
    logits, soft = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.25, 0.75]])
    weights = torch.tensor([0.4, 1.6])
    # (.25 * .4 + .75 * 1.6) log 2, over .25 * .4 + .75 * 1.6
    for loss in (losses.cross_entropy, lambda *a, **k: losses.focal(*a, gamma=0, **k)):
        total = loss(logits, soft, class_weights=weights, reduction="sum").item()
        assert total == pytest.approx(1.3 * math.log(2))
        assert loss(logits, soft, class_weights=weights).item() == pytest.approx(math.log(2))


def test_inverse_frequency_weights():
    weights = losses.inverse_frequency_weights(torch.tensor([100, 50, 10]))
    torch.testing.assert_close(weights * torch.tensor([100, 50, 10]), weights[0].expand(3) * 100)
    assert weights.mean().item() == pytest.approx(1)
    assert weights.dtype == torch.float32
    assert losses.inverse_frequency_weights(np.array([7.0, 7.0])).tolist() == [1.0, 1.0]
    assert losses.inverse_frequency_weights([0.1, 0.3]).tolist() == [1.5, 0.5]  # shares will do


def test_class_balanced_weights():
    counts = [5000, 300, 20]
    assert losses.class_balanced_weights(counts, beta=0.0).tolist() == [1.0, 1.0, 1.0]
    expected = np.array([(1 - 0.999) / (1 - 0.999**n) for n in counts])
    expected /= expected.mean()
    weights = losses.class_balanced_weights(counts)
    np.testing.assert_allclose(weights.numpy(), expected, rtol=1e-6)
    assert weights.dtype == losses.class_balanced_weights(counts, beta=0).dtype == torch.float32
    torch.testing.assert_close(
        losses.class_balanced_weights(counts, beta=1 - 1e-12),
        losses.inverse_frequency_weights(counts),
    )


def test_scheduled_gamma():
    runs = [losses.scheduled_gamma(epoch, 350) for epoch in range(350)]
    assert runs == [5.0] * 100 + [3.0] * 150 + [1.0] * 100
    runs = [losses.scheduled_gamma(epoch, 350, gammas="5-3-2") for epoch in range(350)]
    assert runs == [5.0] * 100 + [3.0] * 150 + [2.0] * 100
    assert [losses.scheduled_gamma(e, 7) for e in range(7)] == [5, 5, 3, 3, 3, 1, 1]
    assert losses.scheduled_gamma(0, 1) == 5
    logits, target = batch()
    first = losses.focal(logits, target[:, None], gamma=5, reduction="none")  # a column will do
    assert torch.equal(losses.ScheduledFocal()(logits, target, reduction="none"), first)


# --- bad input -------------------------------------------------------------------------------

Z, Y, Q = *batch(4, 3, torch.float32), soft_rows(4, 3, torch.float32)
NAN, INF = math.nan, math.inf
FUNCTIONS = {**LOSSES, "mmce_penalty": losses.mmce_penalty}


def with_value(tensor, value):
    tensor = tensor.clone()
    tensor[1, 2] = value
    return tensor


@refusals.each("""
    f(with_value(Z, NAN), Y) -> ValueError: logits must be finite, got nan
    f(Z[0], Y) -> ValueError: logits must have 2 dimension
    f(Z[:, :1], Y * 0) -> ValueError: logits must have one column per class
    f(Z.long(), Y) -> TypeError: logits must be floating point
    f(Z, Y[:3]) -> ValueError: target must have one entry per row, 4, got 3
    f(Z, Y[:, None, None]) -> ValueError: target must be (n,) integer labels or
    f(Z, Y.float()) -> TypeError: target of shape (4,) must be integer
    f(Z, Y - 100) -> ValueError: target must lie in [0, 3)
    f(Z, torch.tensor([0, 1, 2, -100])) -> ValueError: ...got -100
    f(Z, Y.to("meta")) -> ValueError: target is on meta
    f(Z, Q[:, :2]) -> ValueError: target must have the shape of logits
    f(Z, Q * 0.9) -> ValueError: target must have rows that sum to 1
    f(Z, Z) -> ValueError: target must lie in [0, 1]
    f(Z, with_value(Q, NAN)) -> ValueError: target must be finite
""")
def test_bad_input(call, refused):
    for function in FUNCTIONS.values():
        refusals.check(call, refused, {**globals(), "f": function})


@refusals.each("""
    f(with_value(Z, NAN), Y, reduction="sum") -> ValueError: logits must be finite, got nan
    f(with_value(Z, INF), Y, reduction="none") -> ValueError: logits must be finite, got inf
    f(Z, Y, reduction="x") -> ValueError: reduction must be one of 'mean', 'sum', 'none', got 'x'
""")
def test_bad_input_of_every_reduction(call, refused):
    for function in LOSSES.values():
        refusals.check(call, refused, {**globals(), "f": function})


def test_probabilities_in_place_of_logits_are_refused():
    words = r"^logits are probabilities, for every row sums to 1"
    for name, function in FUNCTIONS.items():
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            probs = Z.softmax(1).to(dtype).requires_grad_(name == "flsd")
            for rows in (4, 2):
                with pytest.raises(ValueError, match=words):
                    function(probs[:rows], Y[:rows])
            assert function(probs[:1], Y[:1]).isfinite()  # one row may sum to 1 by chance
            assert function(probs.detach().log(), Y).isfinite()
        assert function(torch.eye(3)[Y], Y).isfinite()  # an example by hand


@refusals.each("""
    f(Z, Y, class_weights=torch.ones(2)) -> ValueError: ...one entry per class, 3, got 2
    f(Z, Y, class_weights=torch.tensor([1, -1.0, 1])) -> ValueError: ...at least 0, got from -1 to 1
    f(Z, Y, class_weights=torch.ones(3, device="meta")) -> ValueError: ...is on meta
    f(Z, Y, class_weights=torch.zeros(3)) -> ValueError: ...are 0 for every label
""")
def test_bad_class_weights(call, refused):
    for name in WEIGHTED:
        refusals.check(call, refused, {**globals(), "f": LOSSES[name]})


test_bad_settings = refusals.table("""
    losses.focal(Z, Y, gamma=-1.0) -> ValueError: gamma must lie in
    losses.focal(Z, Y, gamma=math.inf) -> ValueError: gamma must lie in
    losses.focal(Z, Y, gamma="2") -> TypeError: gamma must be a tensor or array of numbers, got str
    losses.focal(Z, Y, gamma=torch.ones(3)) -> ValueError: gamma must have one entry per row
    losses.dual_focal(Z, Y, gamma=torch.ones(1, 4)) -> ValueError: gamma must have 1 dimension
    losses.dual_focal(Z, Y, gamma=torch.ones(4) * NAN) -> ValueError: gamma must be finite
    losses.focal(Z, Y, gamma=torch.ones(4).to("meta")) -> ValueError: gamma is on meta
    losses.flsd(Z, Y, gammas="5-3-1") -> ValueError: gammas must be one of '5-3', '5-3-2'
    losses.mmce(Z, Y, variant="Plain") -> ValueError: variant must be one of 'plain', 'weighted'
    losses.mmce(Z, Y, width=0) -> ValueError: width must lie in (0, inf]
    losses.mmce(Z, Y, weight=-1) -> ValueError: weight must lie in
    losses.mmce(Z, Y, weight=math.inf) -> ValueError: weight must lie in
    losses.confidence_penalty(Z, Y, weight=-1) -> ValueError: weight must lie in
    losses.confidence_penalty(Z, Y, weight=math.inf) -> ValueError: weight must lie in
    losses.dual_focal(Z, Q, gamma=1.0) -> ValueError: target must be (n,) integer labels for dual_
    losses.label_smoothing(Z, Y, alpha=1.5) -> ValueError: alpha must lie in
    losses.label_smoothing(Z, Y, alpha=0.7, divisor="K-1") -> ValueError: ...0.666
    losses.label_smoothing(Z, Y, divisor="k") -> ValueError: divisor must be one of 'K', 'K-1'
    losses.forward_corrected(Z, Q, transition=torch.eye(3)) -> ValueError: target must be
    losses.forward_corrected(Z, Y, transition=torch.eye(4)) -> ValueError: transition must be (3, 3)
    losses.forward_corrected(Z, Y * 0 + 2, transition=torch.eye(3)[[0, 1, 1]]) -> ValueError: transi
    losses.forward_corrected(Z, Y, transition=torch.eye(3).to("meta")) -> ValueError: transition is
    losses.cross_entropy(torch.tensor([[3e38, -3e38]]), [1]) -> ValueError: logits give a loss of
    losses.class_balanced_weights([3, 0, 1]) -> ValueError: ...positive, got 0 in class 1
    losses.inverse_frequency_weights([3, -2]) -> ValueError: ...positive, got -2 in class 1
    losses.inverse_frequency_weights([True, True]) -> TypeError: counts must be real numbers
    losses.inverse_frequency_weights([3, INF]) -> ValueError: counts must be finite
    losses.ScheduledFocal("5-3") -> ValueError: gammas must be one of '5-3-1', '5-3-2'
    losses.class_balanced_weights([1, 2], beta=1.0) -> ValueError: beta must lie in
    losses.scheduled_gamma(5, 5) -> ValueError: epoch must be in [0, 4]
    losses.scheduled_gamma(0, 5, gammas="5-3") -> ValueError: gammas must be one of '5-3-1', '5-3-2'
""")


SIZES = [2e4, 1e30, torch.finfo(torch.float32).max]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "loss", [*[partial(losses.focal, gamma=gamma) for gamma in (0.0, 0.5, 5.0)], losses.flsd]
)
def test_focal_has_the_gradient_of_cross_entropy_where_the_label_is_lost(size, loss):
    logits = torch.tensor([[size, 0.0, -1.0]], requires_grad=True)
    hard = loss(logits, torch.tensor([1]))
    (slope,) = torch.autograd.grad(hard, logits)
    assert hard.item() == logits[0, 0].item()
    assert slope.tolist() == [[1.0, -1.0, 0.0]]
    half = loss(logits, torch.tensor([[0.5, 0.5, 0.0]]))
    (slope,) = torch.autograd.grad(half, logits)
    assert half.item() == logits[0, 0].item() / 2
    assert slope.tolist() == [[0.5, -0.5, 0.0]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("gamma", [0.5, 5.0])
def test_dual_focal_has_the_gradient_of_cross_entropy_where_the_label_is_lost(size, gamma):
    logits = torch.tensor([[size, 0.0, -1.0], [0.0, size, 0.0]], requires_grad=True)
    loss = losses.dual_focal(logits, torch.tensor([1, 1]), gamma=gamma, reduction="none")
    assert loss.tolist() == [logits[0, 0].item(), 0.0]
    (slope,) = torch.autograd.grad(loss[0] + loss[1], logits)
    assert slope.tolist() == [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]]
