import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import stats
from torchvision.transforms import v2

from calibkit import mixing
from tests import refusals


def samples(n=6, shape=(3, 4), classes=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(n, *shape, generator=generator)
    return inputs, torch.randint(classes, (n,), generator=generator)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_lam_is_beta(alpha):
    lam = mixing.draw(20_000, alpha, per_sample=True, generator=7).lam
    assert lam.dtype == torch.float32
    assert ((lam >= 0) & (lam <= 1)).all()
    # float32 rounds what is within 6e-8 of 1, so the distribution is compared below 1/2
    folded = torch.minimum(lam, 1 - lam).double().clamp_min(1e-7).numpy()

    def cdf(x):
        return 2 * stats.beta(alpha, alpha).cdf(x)

    grid = np.quantile(folded, [0.1, 0.3, 0.5, 0.7, 0.9])
    grid = grid[grid > 1e-6]
    empirical = (folded[:, None] <= grid).mean(0)
    np.testing.assert_allclose(empirical, cdf(grid), atol=0.012)
    assert (lam > 0.5).double().mean().item() == pytest.approx(0.5, abs=0.012)
    variance = 1 / (4 * (2 * alpha + 1))
    assert lam.double().var().item() == pytest.approx(variance, rel=0.04)


@pytest.mark.parametrize("per_sample", [False, True])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4, 2)])
def test_apply_is_the_definition(per_sample, shape):
    inputs, labels = samples(7, shape)
    mix = mixing.draw(7, 1.0, per_sample=per_sample, generator=1)
    mixed, soft = mix.apply(inputs), mix.soft_labels(labels, 4)
    for i, j in enumerate(mix.partner.tolist()):
        lam = mix.lam[i] if per_sample else mix.lam
        torch.testing.assert_close(mixed[i], lam * inputs[i] + (1 - lam) * inputs[j])
        expected = torch.zeros(4)
        expected[labels[i]] += lam
        expected[labels[j]] += 1 - lam
        torch.testing.assert_close(soft[i], expected)


def test_main_labels():
    swap = torch.tensor([1, 0, 3, 2])
    mix = mixing.Mix(torch.tensor([0.9, 0.2, 0.5, 0.49]), swap)
    assert mix.main_labels(torch.tensor([0, 1, 2, 3]), 4).argmax(1).tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("per_sample", [False, True])
def test_parts_of_mixup(per_sample):
    inputs, labels = samples(40)
    parts = {
        part: mixing.mixup(
            inputs, labels, classes=4, alpha=0.4, mix=part, per_sample=per_sample, generator=5
        )
        for part in mixing.PARTS
    }
    drawn = mixing.draw(40, 0.4, per_sample=per_sample, generator=5)
    assert torch.equal(parts["both"][0], drawn.apply(inputs))
    assert torch.equal(parts["both"][1], drawn.soft_labels(labels, 4))
    assert torch.equal(parts["inputs"][0], drawn.apply(inputs))
    assert torch.equal(parts["inputs"][1], drawn.main_labels(labels, 4))
    assert parts["labels"][0] is inputs
    assert torch.equal(parts["labels"][1], parts["both"][1])


def test_cutmix_is_torchvisions_with_a_generator():
    images, labels = torch.rand(8, 3, 12, 12), torch.arange(8)
    state = torch.random.get_rng_state()
    first, again = (
        mixing.cutmix(images, labels, classes=8, alpha=0.3, generator=4) for _ in range(2)
    )
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    seed = torch.randint(2**62, (), generator=torch.Generator().manual_seed(4)).item()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        theirs = v2.CutMix(alpha=0.3, num_classes=8)(images, labels)
    assert torch.equal(first[0], theirs[0])
    assert torch.equal(first[1], theirs[1])


X, Y = samples(6, (3, 4, 4))
SOFT = F.one_hot(Y, 4).float()
META = torch.device("meta")
SIX, SWAP = mixing.draw(6, 0.4, generator=0), torch.tensor([1, 0])


def mixup(inputs=X, labels=Y, classes=4, alpha=0.4, **options):
    return mixing.mixup(inputs, labels, classes=classes, alpha=alpha, **options)


def cutmix(images=X, labels=Y, classes=4, **options):
    return mixing.cutmix(images, labels, classes=classes, **options)


test_bad_input = refusals.table("""
    mixup(alpha=0) -> ValueError: alpha must lie in (0, inf), got 0
    mixup(alpha="1") -> TypeError: alpha must be a number
    mixup(classes=1) -> ValueError: classes must be at least 2
    mixup(labels=Y + 4) -> ValueError: labels must lie in [0, 4)
    mixup(inputs=X.long()) -> TypeError: inputs must be floating point
    cutmix(images=X.long()) -> TypeError: images must be floating point
    cutmix(images=X[0], labels=Y[:3]) -> ValueError: images must have 4 dimension
    cutmix(labels=Y + 4) -> ValueError: labels must lie in [0, 4)
    mixup(generator=-1) -> ValueError: seed must be at least 0
    mixup(mix="all") -> ValueError: mix must be one of 'both', 'inputs', 'labels'
    mixup(labels=SOFT[:, :3]) -> ValueError: labels must have 4 columns
    mixup(labels=SOFT * 3) -> ValueError: labels must lie in [0, 1]
    mixing.draw(0, 1.0) -> ValueError: n must be at least 1
    mixing.draw(3, 1.0, generator=torch.Generator(), device="meta") -> ValueError: generator is on
    SIX.apply(Y) -> TypeError: tensor must be floating point
    SIX.apply(X[:5]) -> ValueError: tensor must have one entry per row, 6, got 5
    SIX.apply(X.to(META)) -> ValueError: tensor is on meta
    SIX.soft_labels(Y[:2], 4) -> ValueError: labels must have one entry per row, 6
    UNSEEN.soft_labels(torch.ones(2, device=META), 3) -> TypeError: labels must be integers
    UNSEEN.soft_labels(torch.ones(1, 2, device=META).long(), 3) -> ValueError: labels must have 1
    mixing.Mix(SWAP, SWAP) -> TypeError: lam must be floating point
    mixing.Mix(torch.ones(3), SWAP) -> ValueError: lam must be one number or one per sample
    mixing.word_mixup(X[:, 0, 0], Y, classes=4, alpha=1.0) -> TypeError: texts must be word numbers
""")


UNSEEN = mixing.Mix(torch.tensor([0.25, 0.5], device=META), SWAP.to(META))


def test_labels_off_the_cpu_are_mixed_unseen():
    for labels in (torch.tensor([0, 1], device=META), torch.ones(2, 3, device=META)):
        soft = UNSEEN.soft_labels(labels, 3)
        assert soft.shape == (2, 3)
        assert soft.device == META


def test_texts_are_blended_word_by_word_with_the_labels_weights():
    texts, labels = torch.randint(0, 9, (6, 5)), torch.arange(6) % 3
    blends, soft = mixing.word_mixup(texts, labels, classes=3, alpha=1.0, generator=3)
    drawn = mixing.draw(6, 1.0, generator=3)
    assert torch.equal(blends[..., 0], texts.float())
    assert torch.equal(blends[..., 1], texts[drawn.partner].float())
    assert bool((blends[..., 2] == drawn.lam).all())
    assert torch.equal(soft, drawn.soft_labels(labels, 3))
