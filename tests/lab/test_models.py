"""Models: parameter counts of the papers, shapes, gradients, the common form, bad input."""

import pytest
import torch
import torchvision
from torch import nn

from calibkit.lab import models
from calibkit.lab.models import text
from tests import refusals


def count(build):
    """Parameters, without allocating them."""
    with torch.device("meta"):
        return sum(p.numel() for p in build().parameters())


@pytest.mark.parametrize(
    ("depth", "millions"), [(20, 0.27), (32, 0.46), (44, 0.66), (56, 0.85), (110, 1.7)]
)
def test_resnets_have_the_sizes_of_the_paper(depth, millions):
    digits = 1 if depth == 110 else 2
    assert round(count(lambda: models.resnet(depth)) / 1e6, digits) == millions


def test_wide_resnets_have_the_sizes_of_the_paper():
    assert round(count(lambda: models.wide_resnet(28, 10)) / 1e6, 1) == 36.5
    assert round(count(lambda: models.wide_resnet(16, 8)) / 1e6, 1) == 11.0
    assert round(count(lambda: models.wide_resnet(40, 4)) / 1e6, 1) == 8.9
    assert round(count(lambda: models.wide_resnet(40, 1)) / 1e6, 1) == 0.6


def test_torchvision_forms_differ_in_the_stem_and_the_head_alone():
    stem = 64 * 3 * (7 * 7 - 3 * 3)
    resnet50 = count(torchvision.models.resnet50)
    assert count(lambda: models.resnet50(3, 1000)) == resnet50 - stem == 25_557_032 - stem
    densenet = count(torchvision.models.densenet121)
    assert count(lambda: models.densenet121(3, 1000)) == densenet - stem == 7_978_856 - stem


def test_lenet5_has_the_layers_of_the_paper():
    sizes = [tuple(p.shape) for p in models.lenet5(1, 10).parameters() if p.ndim > 1]
    assert sizes == [(6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)]
    assert count(lambda: models.lenet5(1, 10)) == 61_706
    assert count(lambda: models.lenet5(3, 100)) == 61_706 + 2 * 6 * 25 + 90 * 85


def test_vit_has_the_size_of_the_paper():
    ours = count(lambda: models.vit(3, 1000, size=224, patch=16, width=768, depth=12, heads=12))
    theirs = count(torchvision.models.vit_b_16)
    assert ours == theirs - 2 * 768  # no class token, so one position less
    assert round(ours / 1e6) in (86, 87)


BUILDERS = {
    "mlp": lambda size: models.mlp(3 * size * size, 7, width=16),
    "mlp, norm": lambda size: models.mlp(3 * size * size, 7, width=16, norm="batch"),
    "mlp, linear": lambda size: models.mlp(3 * size * size, 7, depth=0),
    "lenet5": lambda size: models.lenet5(3, 7, size=size),
    "cnn": lambda size: models.cnn(3, 7, width=8),
    "cnn, norm": lambda size: models.cnn(3, 7, width=8, norm="batch"),
    "convnet": lambda size: models.convnet(3, 7, width=8),
    "resnet": lambda size: models.resnet(8, 3, 7),
    "wide_resnet": lambda size: models.wide_resnet(10, 2, 3, 7),
    "resnet18": lambda size: models.resnet18(3, 7),
    "resnet34": lambda size: models.resnet34(3, 7),
    "resnet50": lambda size: models.resnet50(3, 7),
    "densenet121": lambda size: models.densenet121(3, 7),
    "vit": lambda size: models.vit(3, 7, size=size, patch=size // 4, width=16, depth=2),
    "mlp_mixer": lambda size: models.mlp_mixer(3, 7, size=size, patch=size // 4, width=16, depth=2),
}
SMALLEST = {"lenet5": 16}
HEAVY = {"resnet18", "resnet34", "resnet50", "densenet121"}


@pytest.mark.parametrize("name", BUILDERS)
def test_forward_and_backward(name):
    torch.manual_seed(0)
    size = SMALLEST.get(name, 8 if name in HEAVY else 20)
    model = BUILDERS[name](size)
    x = torch.randn(4, 3, size, size)
    logits = model(x)
    assert logits.shape == (4, 7)
    assert bool(torch.isfinite(logits).all())
    logits.logsumexp(1).sum().backward()
    gradients = [p.grad for p in model.parameters()]
    assert all(g is not None and bool(torch.isfinite(g).all()) for g in gradients)
    assert sum(g.abs().sum() > 0 for g in gradients) >= 0.9 * len(gradients)


@pytest.mark.parametrize("name", BUILDERS)
def test_logits_are_the_head_of_the_features(name):
    torch.manual_seed(0)
    size = SMALLEST.get(name, 8)
    model = BUILDERS[name](size).eval()
    x = torch.randn(2, 3, size, size)
    with torch.no_grad():
        features = model.features(x)
        assert isinstance(model, models.Classifier)
        assert isinstance(model.head, nn.Linear)
        assert features.shape == (2, model.head.in_features)
        assert torch.allclose(model(x), model.head(features), atol=1e-6)
        assert torch.allclose(model(x)[:1], model(x[:1]), atol=1e-5)  # each image for itself
    assert model.head.out_features == 7


def test_a_block_for_words_is_torchs_with_a_number_for_each_distance():
    heads, length = 2, 5
    ours = text.WordBlock(8, heads, 16, 7)
    options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
    theirs, state = nn.TransformerEncoderLayer(8, heads, 16, **options), ours.state_dict()
    numbers = state.pop("distances.numbers")
    names = {"asks.": "self_attn.in_proj_", "says": "self_attn.out_proj"}
    names |= {"dense.0": "linear1", "dense.2": "linear2", "norm": "norm"}
    for name, value in state.items():
        old = next(old for old in names if name.startswith(old))
        theirs.state_dict()[name.replace(old, names[old])].copy_(value)
    scores = torch.tensor([[[row[6 + j - i] for j in range(length)] for i in range(length)]
                           for row in numbers.tolist()])  # fmt: skip
    x, mask = torch.randn(3, length, 8), torch.arange(length) < torch.tensor([[5], [3], [1]])
    scores = scores.repeat(3, 1, 1).masked_fill(~mask.repeat_interleave(heads, 0)[:, None], -1e9)
    found = theirs(x, src_mask=scores)
    assert torch.allclose(ours(x, mask)[mask], found[mask], atol=1e-5)


READERS = {
    "bag": lambda: models.text_bag(50, 4, embedding=6, width=8),
    "mean bag": lambda: models.text_bag(50, 4, embedding=6, width=8, pool="mean"),
    "cnn": lambda: models.text_cnn(50, 4, embedding=6, width=8),
    "lstm": lambda: models.text_lstm(50, 4, embedding=6, width=8),
    "transformer": lambda: models.text_transformer(50, 4, length=30, width=8, depth=2),
}


@pytest.mark.parametrize("name", READERS)
def test_padding_changes_nothing_and_the_order_only_what_it_should(name):
    torch.manual_seed(0)
    model = READERS[name]().eval()
    x = torch.randint(1, 50, (20, 12))
    padded = nn.functional.pad(x, (0, 9))
    assert torch.allclose(model(x), model(padded), atol=1e-5)
    assert torch.allclose(model(x[:, :1]), model(padded * (torch.arange(21) < 1)), atol=1e-5)
    moved = (model(x) - model(x.flip(1))).abs().amax()
    assert (moved < 1e-5) == ("bag" in name)
    assert torch.isfinite(model(torch.zeros(2, 5, dtype=torch.long))).all()  # texts of no word
    model(padded).square().sum().backward()
    assert bool((model.body.words.weight.grad[0] == 0).all())


@pytest.mark.parametrize("name", READERS)
def test_a_blend_lies_between_two_texts_and_its_ends_are_texts(name):
    torch.manual_seed(0)
    model = READERS[name]().eval()
    one, other = torch.randint(1, 50, (2, 5, 12))
    ends = torch.stack([one.float(), other.float(), torch.ones(5, 12)], dim=2)
    assert torch.allclose(model(ends), model(one), atol=1e-5)
    ends[..., 2] = 0
    assert torch.allclose(model(ends), model(other), atol=1e-5)
    vectors = model.body.words
    ends[..., 2] = 0.25
    expected = 0.25 * vectors(one) + 0.75 * vectors(other)
    assert torch.allclose(vectors(ends), expected, atol=1e-6)


PINNED = {
    "mlp": 1.7666794, "mlp, norm": 0.49680904, "mlp, linear": -15.759822, "lenet5": 0.36435979,
    "cnn": 0.40173149, "cnn, norm": 0.29852301, "convnet": 1.2123922, "resnet": 2.0830693,
    "wide_resnet": 2.1978059, "vit": 2.0997695, "mlp_mixer": 1.3576818, "text bag": 1.4166805,
    "text mean bag": 0.71322786, "text cnn": 0.73488192, "text lstm": 0.59263837,
    "text transformer": 1.8850951,
}  # fmt: skip


@pytest.mark.parametrize("name", PINNED)
def test_a_network_of_known_weights_says_what_it_said_in_earlier_versions(name):
    """Runs that are kept, and numbers in lessons, are of these layers in this order."""
    reads = name.startswith("text ")
    model = (READERS[name[5:]]() if reads else BUILDERS[name](20)).double().eval()
    with torch.no_grad():
        for k, p in enumerate(model.parameters(), start=1):
            angles = k + torch.arange(p.numel(), dtype=torch.float64)
            p.copy_(torch.cos(angles).view_as(p) / p[0].numel() ** 0.5)
        words = torch.arange(1, 25).view(2, 12) * (torch.arange(12) < 10)
        images = torch.sin(torch.arange(2400, dtype=torch.float64)).view(2, 3, 20, 20)
        said = model(words if reads else images)[1, 0].item()
    assert said == pytest.approx(PINNED[name], rel=1e-6)


# --- bad input ---


@refusals.each("""
    models.mlp(0, 10) -> ValueError: ...inputs
    models.mlp(64, 1) -> ValueError: ...classes
    models.mlp(64, 10, norm="layer") -> ValueError: ...norm
    models.lenet5(1, 10, size=8) -> ValueError: ...size
    models.resnet(18) -> ValueError: ...14 and 20
    models.wide_resnet(27, 10) -> ValueError: ...26 and 28
    models.vit(1, 10, size=8, patch=3) -> ValueError: ...patch
    models.vit(1, 10, width=10, heads=4) -> ValueError: ...heads
    models.mlp_mixer(1, 10, size=8, patch=16) -> ValueError: ...patch
    models.text_cnn(1, 2) -> ValueError: ...vocabulary
    models.text_cnn(9, 2, kernel=4) -> ValueError: ...kernel
    models.text_bag(9, 2, pool="max") -> ValueError: ...pool
    models.text_cnn(9, 2, dropout=1.0) -> ValueError: ...dropout
""")
def test_bad_options_are_named(call, refused):
    with torch.device("meta"):
        refusals.check(call, refused, globals())


@pytest.mark.parametrize(("build", "size"), [
    (lambda: models.cnn(3, 2), 3),
    (lambda: models.resnet(8, 3, 2), 2),
    (lambda: models.wide_resnet(10, 1, 3, 2), 2),
    (lambda: models.resnet50(3, 2), 4),
    (lambda: models.densenet121(3, 2), 4),
])  # fmt: skip
def test_small_images_are_refused(build, size):
    with torch.device("meta"):
        model = build()
        for shape in ((1, 3, size, size), (1, 3, 64, size), (1, 3, size, 64), (3, 64, 64)):
            with pytest.raises(ValueError, match=r"x must be images .* at least \d+ px"):
                model(torch.zeros(shape))


def test_other_sizes_than_built_for_are_refused():
    with pytest.raises(ValueError, match=r"x must be images .* exactly 32 px"):
        models.lenet5(1, 2)(torch.zeros(1, 1, 28, 28))
    for model in (models.vit(3, 2, size=8), models.mlp_mixer(3, 2, size=8)):
        for shape in ((1, 3, 16, 16), (1, 3, 8, 16), (3, 8, 8)):
            with pytest.raises(ValueError, match=r"x must be images .* exactly 8 px"):
                model(torch.zeros(shape))
