"""Models: parameter counts of the papers, shapes, gradients, the common form, bad input."""

import math

import pytest
import torch
import torchvision
from torch import nn

from calibkit.lab import models


def count(build):
    """Parameters, without allocating them."""
    with torch.device("meta"):
        return sum(p.numel() for p in build().parameters())


# --- parameter counts ---


@pytest.mark.parametrize(
    ("depth", "millions"), [(20, 0.27), (32, 0.46), (44, 0.66), (56, 0.85), (110, 1.7)]
)
def test_resnets_have_the_sizes_of_the_paper(depth, millions):
    digits = 1 if depth == 110 else 2
    assert round(count(lambda: models.resnet(depth)) / 1e6, digits) == millions


@pytest.mark.parametrize("depth", [8, 14, 20, 32, 44, 56, 110])
def test_resnet_depth_counts_its_layers(depth):
    with torch.device("meta"):
        model = models.resnet(depth)
    assert sum(isinstance(m, (nn.Conv2d, nn.Linear)) for m in model.modules()) == depth


def test_wide_resnets_have_the_sizes_of_the_paper():
    assert round(count(lambda: models.wide_resnet(28, 10)) / 1e6, 1) == 36.5
    assert round(count(lambda: models.wide_resnet(16, 8)) / 1e6, 1) == 11.0
    assert round(count(lambda: models.wide_resnet(40, 4)) / 1e6, 1) == 8.9
    assert round(count(lambda: models.wide_resnet(40, 1)) / 1e6, 1) == 0.6


def test_both_depth_conventions_of_wide_resnets_name_one_network():
    assert count(lambda: models.wide_resnet()) == count(lambda: models.wide_resnet(28, 10))
    with torch.device("meta"):
        layers = [type(m) for m in models.wide_resnet(28, 10).modules()]
    assert layers.count(nn.Conv2d) == 28  # 24 of 3 x 3, the first, three shortcuts
    assert layers.count(nn.Linear) == 1


def test_torchvision_forms_differ_in_the_stem_and_the_head_alone():
    stem = 64 * 3 * (7 * 7 - 3 * 3)
    resnet50 = count(torchvision.models.resnet50)
    assert count(lambda: models.resnet50(3, 1000)) == resnet50 - stem == 25_557_032 - stem
    densenet = count(torchvision.models.densenet121)
    assert count(lambda: models.densenet121(3, 1000)) == densenet - stem == 7_978_856 - stem


def test_vgg16_has_the_convolutions_of_torchvision():
    theirs = count(lambda: torchvision.models.vgg16_bn().features)
    assert count(lambda: models.vgg16(3, 10).body) == theirs == 14_723_136
    assert count(lambda: models.vgg16(3, 10)) == theirs + 513 * 10


def test_lenet5_has_the_layers_of_the_paper():
    sizes = [tuple(p.shape) for p in models.lenet5(1, 10).parameters() if p.ndim > 1]
    assert sizes == [(6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)]
    assert count(lambda: models.lenet5(1, 10)) == 61_706
    assert count(lambda: models.lenet5(3, 100)) == 61_706 + 2 * 6 * 25 + 90 * 85


@pytest.mark.parametrize(("width", "depth"), [(8, 0), (16, 1), (1, 3), (256, 5)])
@pytest.mark.parametrize("norm", [None, "batch"])
def test_mlp_count(width, depth, norm):
    shift = 2 if norm else 1  # a bias, or the norm's weight and bias
    sizes = [64] + [width] * depth
    hidden = sum(a * width + shift * width for a in sizes[:-1])
    assert count(lambda: models.mlp(64, 10, width=width, depth=depth, norm=norm)) == (
        hidden + (sizes[-1] + 1) * 10
    )


@pytest.mark.parametrize(("width", "depth"), [(8, 1), (4, 2), (16, 5)])
@pytest.mark.parametrize("norm", [None, "batch"])
def test_cnn_count(width, depth, norm):
    shift = 2 if norm else 1
    first = (9 * 3 + shift) * width
    others = (depth - 1) * (9 * width + shift) * width
    assert count(lambda: models.cnn(3, 7, width=width, depth=depth, norm=norm)) == (
        first + others + (width + 1) * 7
    )


def test_vit_has_the_size_of_the_paper():
    ours = count(lambda: models.vit(3, 1000, size=224, patch=16, width=768, depth=12, heads=12))
    theirs = count(torchvision.models.vit_b_16)
    assert ours == theirs - 2 * 768  # no class token, so one position less
    assert round(ours / 1e6) in (86, 87)


def test_mixer_has_the_size_of_the_paper():
    small = {"size": 224, "patch": 16, "width": 512, "depth": 8, "tokens": 256, "hidden": 2048}
    assert round(count(lambda: models.mlp_mixer(3, 1000, **small)) / 1e6, 1) == 18.5
    base = {"size": 224, "patch": 16, "width": 768, "depth": 12, "tokens": 384, "hidden": 3072}
    assert round(count(lambda: models.mlp_mixer(3, 1000, **base)) / 1e6, 1) == 59.9


# --- shapes and gradients ---

BUILDERS = {
    "mlp": lambda size: models.mlp(3 * size * size, 7, width=16),
    "mlp, norm": lambda size: models.mlp(3 * size * size, 7, width=16, norm="batch"),
    "mlp, linear": lambda size: models.mlp(3 * size * size, 7, depth=0),
    "lenet5": lambda size: models.lenet5(3, 7, size=size),
    "cnn": lambda size: models.cnn(3, 7, width=8),
    "cnn, norm": lambda size: models.cnn(3, 7, width=8, norm="batch"),
    "convnet": lambda size: models.convnet(3, 7, width=8),
    "vgg16": lambda size: models.vgg16(3, 7),
    "resnet": lambda size: models.resnet(8, 3, 7),
    "wide_resnet": lambda size: models.wide_resnet(10, 2, 3, 7),
    "resnet18": lambda size: models.resnet18(3, 7),
    "resnet34": lambda size: models.resnet34(3, 7),
    "resnet50": lambda size: models.resnet50(3, 7),
    "densenet121": lambda size: models.densenet121(3, 7),
    "vit": lambda size: models.vit(3, 7, size=size, patch=size // 4, width=16, depth=2),
    "mlp_mixer": lambda size: models.mlp_mixer(3, 7, size=size, patch=size // 4, width=16, depth=2),
}
SMALLEST = {"lenet5": 16, "vgg16": 32}
HEAVY = {
    "vgg16",
    "resnet18",
    "resnet34",
    "resnet50",
    "densenet121",
}  # at 64 px only one sample, in eval mode
CASES = [(n, s) for n in BUILDERS for s in (8, 16, 32, 64) if s >= SMALLEST.get(n, 8)]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_forward_and_backward(name, size):
    torch.manual_seed(0)
    model = BUILDERS[name](size)
    heavy = name in HEAVY and size > 8
    x = torch.randn(1 if heavy else 4, 3, size, size)
    model.train(not heavy)
    logits = model(x)
    assert logits.shape == (len(x), 7)
    assert bool(torch.isfinite(logits).all())
    if heavy and size > 16 and name != "vgg16":
        return
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
    assert model.head.out_features == 7


def test_text_cnn_takes_any_length_and_has_the_common_form():
    model = models.text_cnn(50, 4, embedding=6, width=8)
    for length in (1, 3, 40):
        x = torch.randint(1, 50, (3, length))
        assert model(x).shape == (3, 4)
        assert torch.allclose(model(x), model.head(model.features(x)))
    model(x).sum().backward()
    assert bool((model.body.words.weight.grad[0] == 0).all())  # padding is not learned
    assert model.features(x.int()).shape == (3, 8)


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


def test_texts_are_not_longer_than_the_distances():
    model = models.text_transformer(50, 4, length=6, width=8)
    with pytest.raises(ValueError, match="x must have at most 6 words, got 7"):
        model(torch.ones(1, 7, dtype=torch.long))


def test_text_cnn_by_hand():
    model = models.text_cnn(4, 2, embedding=1, width=1, depth=1, kernel=1)
    with torch.no_grad():
        model.body.words.weight.copy_(torch.tensor([[0.0], [1.0], [5.0], [3.0]]))
        model.body.convolutions[0].weight.fill_(2.0)
        model.body.convolutions[0].bias.fill_(-1.0)
        model.body.dense[0].weight.fill_(1.0)
        model.body.dense[0].bias.fill_(0.5)
    features = model.features(torch.tensor([[1, 3, 0], [1, 2, 3]]))
    assert features.flatten().tolist() == [5.5, 9.5]  # max of 2 v - 1, then + .5


def test_equal_seeds_give_equal_networks_and_others_differ():
    for name, build in BUILDERS.items():
        if name in HEAVY:
            continue
        size = SMALLEST.get(name, 8)
        weights = []
        for seed in (0, 0, 1):
            torch.manual_seed(seed)
            weights.append(build(size).head.weight)
        assert torch.equal(weights[0], weights[1])
        assert not torch.equal(weights[0], weights[2])


def test_transformer_blocks_start_different():
    torch.manual_seed(0)
    layers = [m for m in models.vit(1, 3, size=8).modules() if isinstance(m, nn.Linear)]
    first = [m.weight for m in layers if m.weight.shape == (512, 128)]
    assert len(first) == 6
    assert not torch.equal(first[0], first[1])


# --- what the layers compute ---


def test_basic_block_shortcut_skips_pixels_and_pads_channels():
    block = models.resnet(8).body[4].eval()  # first block of the second stage
    with torch.no_grad():
        block.conv2.weight.zero_()
        x = torch.rand(1, 16, 8, 8)
        out = block(x)
    assert torch.equal(out[:, :16], x[:, :, ::2, ::2])
    assert bool((out[:, 16:] == 0).all())


def test_identity_blocks_pass_their_input():
    with torch.no_grad():
        block = models.resnet(8, width=4).body[3].eval()
        block.conv2.weight.zero_()
        x = torch.rand(1, 4, 8, 8)
        assert torch.equal(block(x), x)
        block = models.wide_resnet(16, 1).body[2].eval()
        block.conv2.weight.zero_()
        x = torch.randn(1, 16, 8, 8)
        assert torch.equal(block(x), x)


def test_pre_activated_block_by_formula():
    torch.manual_seed(0)
    block = models.wide_resnet(10, 2).body[2].eval()  # 32 -> 64 channels, stride 2
    x = torch.randn(2, 32, 8, 8)
    with torch.no_grad():
        active = block.norm1(x).clamp(min=0)
        inner = block.conv2(block.norm2(block.conv1(active)).clamp(min=0))
        assert torch.allclose(block(x), block.shortcut(active) + inner, atol=1e-6)
        assert block(x).shape == (2, 64, 4, 4)


def test_basic_block_by_formula():
    torch.manual_seed(0)
    block = models.resnet(8).body[3].eval()
    x = torch.randn(2, 16, 8, 8)
    with torch.no_grad():
        inner = block.norm2(block.conv2(block.norm1(block.conv1(x)).clamp(min=0)))
        assert torch.allclose(block(x), (x + inner).clamp(min=0), atol=1e-6)


def test_stages_halve_the_image_twice():
    for model in (models.resnet(14), models.wide_resnet(16, 1)):
        strides = [m.stride for m in model.modules() if isinstance(m, nn.Conv2d)]
        assert sum(s == (2, 2) for s in strides) in (2, 4)  # 4 with strided shortcuts
        shapes = []
        last = [m for m in model.body if not isinstance(m, models.base.GlobalAverage)][-1]
        last.register_forward_hook(lambda m, i, o, shapes=shapes: shapes.append(o.shape))
        model(torch.zeros(2, 3, 32, 32))
        assert shapes[0][1:] == (64, 8, 8)


def test_torchvision_stems_keep_the_resolution():
    for model, stage in ((models.resnet50(), "layer1"), (models.densenet121(), "denseblock1")):
        shapes = []
        part = dict(model.body.named_modules())
        module = part.get(stage) or part[f"features.{stage}"]
        module.register_forward_hook(lambda m, i, o, shapes=shapes: shapes.append(o.shape))
        with torch.no_grad():
            model.eval()(torch.zeros(1, 3, 16, 16))
        assert shapes[0][2:] == (16, 16)
        spread = next(p for p in model.parameters() if p.ndim == 4).std().item()
        assert spread == pytest.approx(math.sqrt(2 / (64 * 9)), rel=0.1)  # their initialisation


def test_cnn_pools_after_its_first_two_convolutions():
    for depth, pools in ((1, 1), (2, 2), (5, 2)):
        model = models.cnn(1, 2, width=4, depth=depth)
        assert sum(isinstance(m, nn.MaxPool2d) for m in model.modules()) == pools
        assert model(torch.zeros(2, 1, 4, 4)).shape == (2, 2)


def test_norm_comes_before_the_activation():
    kinds = [type(m) for m in models.mlp(4, 2, depth=1, norm="batch", activation=nn.Tanh).body]
    assert kinds == [nn.Flatten, nn.Linear, nn.BatchNorm1d, nn.Tanh]
    kinds = [type(m) for m in models.cnn(1, 2, depth=1, norm="batch", activation=nn.GELU).body]
    assert kinds[:4] == [nn.Conv2d, nn.BatchNorm2d, nn.GELU, nn.MaxPool2d]
    assert sum(isinstance(m, nn.Tanh) for m in models.lenet5(1, 2, activation=nn.Tanh).body) == 4


def test_vit_ignores_the_order_of_patches_without_positions():
    torch.manual_seed(0)
    model = models.vit(1, 3, size=8, patch=4, width=16, depth=1).eval()
    x = torch.randn(2, 1, 8, 8)
    with torch.no_grad():
        assert not torch.allclose(model(x), model(x.flip(2).flip(3)), atol=1e-4)
        swapped = torch.cat([x[:, :, 4:], x[:, :, :4]], dim=2)
        assert not torch.allclose(model(x), model(swapped), atol=1e-4)
        model.body[1].vectors.zero_()
        assert torch.allclose(model(x), model(swapped), atol=1e-5)


def test_patches_are_read_row_by_row():
    embed = models.vit(1, 2, size=4, patch=2, width=4, heads=1).body[0]
    with torch.no_grad():
        embed.project.weight.fill_(0.25)
        embed.project.bias.zero_()
        tokens = embed(torch.arange(16.0).view(1, 1, 4, 4))
    assert tokens[0, :, 0].tolist() == [2.5, 4.5, 10.5, 12.5]


def test_mixer_block_by_formula():
    torch.manual_seed(0)
    block = models.mlp_mixer(1, 2, size=4, patch=2, width=6, tokens=3, hidden=5).body[1]
    x = torch.randn(2, 4, 6)
    mixed = x + block.along_tokens(block.norm1(x).mT).mT
    expected = mixed + block.along_channels(block.norm2(mixed))
    assert torch.allclose(block(x), expected, atol=1e-6)
    assert block.along_tokens[0].weight.shape == (3, 4)
    assert block.along_channels[0].weight.shape == (5, 6)


# --- bad input ---

BAD = {
    "mlp inputs": (lambda: models.mlp(0, 10), ValueError, "inputs"),
    "mlp classes": (lambda: models.mlp(64, 1), ValueError, "classes"),
    "mlp width": (lambda: models.mlp(64, 10, width=0), ValueError, "width"),
    "mlp depth": (lambda: models.mlp(64, 10, depth=-1), ValueError, "depth"),
    "mlp depth type": (lambda: models.mlp(64, 10, depth=2.0), TypeError, "depth"),
    "mlp norm": (lambda: models.mlp(64, 10, norm="layer"), ValueError, "norm"),
    "lenet channels": (lambda: models.lenet5(0, 10), ValueError, "channels"),
    "lenet size": (lambda: models.lenet5(1, 10, size=8), ValueError, "size"),
    "lenet classes": (lambda: models.lenet5(1, 0), ValueError, "classes"),
    "convnet channels": (lambda: models.convnet(0, 10), ValueError, "channels"),
    "convnet width": (lambda: models.convnet(1, 10, width=0), ValueError, "width"),
    "cnn channels": (lambda: models.cnn(0, 10), ValueError, "channels"),
    "cnn width": (lambda: models.cnn(1, 10, width=0), ValueError, "width"),
    "cnn depth": (lambda: models.cnn(1, 10, depth=0), ValueError, "depth"),
    "cnn norm": (lambda: models.cnn(1, 10, norm="none"), ValueError, "norm"),
    "vgg channels": (lambda: models.vgg16(0, 10), ValueError, "channels"),
    "resnet depth": (lambda: models.resnet(18), ValueError, "depth.*14 and 20"),
    "resnet depth 2": (lambda: models.resnet(2), ValueError, "depth.*8 and 14"),
    "resnet depth type": (lambda: models.resnet("20"), TypeError, "depth"),
    "resnet channels": (lambda: models.resnet(8, 0), ValueError, "channels"),
    "resnet width": (lambda: models.resnet(8, width=0), ValueError, "width"),
    "wide depth": (lambda: models.wide_resnet(27, 10), ValueError, "depth.*26 and 28"),
    "wide depth 4": (lambda: models.wide_resnet(4, 1), ValueError, "depth"),
    "wide widen": (lambda: models.wide_resnet(28, 0), ValueError, "widen"),
    "wide channels": (lambda: models.wide_resnet(10, 1, 0), ValueError, "channels"),
    "resnet50 channels": (lambda: models.resnet50(0), ValueError, "channels"),
    "densenet channels": (lambda: models.densenet121(0), ValueError, "channels"),
    "vit patch": (lambda: models.vit(1, 10, size=8, patch=3), ValueError, "patch"),
    "vit heads": (lambda: models.vit(1, 10, width=10, heads=4), ValueError, "heads"),
    "vit no heads": (lambda: models.vit(1, 10, heads=0), ValueError, "heads"),
    "vit depth": (lambda: models.vit(1, 10, depth=0), ValueError, "depth"),
    "vit hidden": (lambda: models.vit(1, 10, hidden=0), ValueError, "hidden"),
    "vit size": (lambda: models.vit(1, 10, size=0), ValueError, "size"),
    "vit channels": (lambda: models.vit(0, 10), ValueError, "channels"),
    "mixer patch": (lambda: models.mlp_mixer(1, 10, size=8, patch=16), ValueError, "patch"),
    "mixer tokens": (lambda: models.mlp_mixer(1, 10, tokens=0), ValueError, "tokens"),
    "mixer hidden": (lambda: models.mlp_mixer(1, 10, hidden=0), ValueError, "hidden"),
    "mixer depth": (lambda: models.mlp_mixer(1, 10, depth=0), ValueError, "depth"),
    "mixer width": (lambda: models.mlp_mixer(1, 10, width=0), ValueError, "width"),
    "text vocabulary": (lambda: models.text_cnn(1, 2), ValueError, "vocabulary"),
    "text embedding": (lambda: models.text_cnn(9, 2, embedding=0), ValueError, "embedding"),
    "text width": (lambda: models.text_cnn(9, 2, width=0), ValueError, "width"),
    "text depth": (lambda: models.text_cnn(9, 2, depth=0), ValueError, "depth"),
    "text kernel": (lambda: models.text_cnn(9, 2, kernel=4), ValueError, "kernel"),
    "text no kernel": (lambda: models.text_cnn(9, 2, kernel=0), ValueError, "kernel"),
    "bag pool": (lambda: models.text_bag(9, 2, pool="max"), ValueError, "pool"),
    "bag width": (lambda: models.text_bag(9, 2, width=0), ValueError, "width"),
    "lstm width": (lambda: models.text_lstm(9, 2, width=0), ValueError, "width"),
    "words heads": (lambda: models.text_transformer(9, 2, length=5, heads=3), ValueError, "heads"),
    "words length": (lambda: models.text_transformer(9, 2, length=0), ValueError, "length"),
    "words hidden": (
        lambda: models.text_transformer(9, 2, length=5, hidden=0),
        ValueError,
        "hidden",
    ),
    "text dropout": (lambda: models.text_cnn(9, 2, dropout=1.0), ValueError, "dropout"),
    "text classes": (lambda: models.text_cnn(9, 1), ValueError, "classes"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_named(case):
    build, error, match = BAD[case]
    with torch.device("meta"), pytest.raises(error, match=match):
        build()


@pytest.mark.parametrize(
    ("build", "size"),
    [
        (lambda: models.cnn(3, 2), 3),
        (lambda: models.vgg16(3, 2), 16),
        (lambda: models.resnet(8, 3, 2), 2),
        (lambda: models.wide_resnet(10, 1, 3, 2), 2),
        (lambda: models.resnet50(3, 2), 4),
        (lambda: models.densenet121(3, 2), 4),
    ],
)
def test_small_images_are_refused(build, size):
    with torch.device("meta"):
        model = build()
        for shape in ((1, 3, size, size), (1, 3, 64, size), (1, 3, size, 64), (3, 64, 64)):
            with pytest.raises(ValueError, match=r"x must be images .* at least \d+ px"):
                model(torch.zeros(shape))


def test_lenet5_takes_the_size_that_it_was_built_for():
    for size in (28, 64):
        with pytest.raises(ValueError, match=r"x must be images .* exactly 32 px"):
            models.lenet5(1, 2)(torch.zeros(1, 1, size, size))


def test_other_sizes_than_built_for_are_refused():
    for model in (models.vit(3, 2, size=8), models.mlp_mixer(3, 2, size=8)):
        for shape in ((1, 3, 16, 16), (1, 3, 4, 4), (1, 3, 8, 16), (1, 3, 4, 8), (3, 8, 8)):
            with pytest.raises(ValueError, match=r"x must be images .* exactly 8 px"):
                model(torch.zeros(shape))


@pytest.mark.parametrize(
    "x",
    [
        torch.zeros(2, 5),
        torch.zeros(5, dtype=torch.long),
        torch.zeros(2, 0, dtype=torch.long),
        torch.zeros(2, 5, 3, dtype=torch.long),
        torch.zeros(2, 5, dtype=torch.bool),
    ],
)
def test_text_of_another_form_is_refused(x):
    with pytest.raises(ValueError, match="x must be word numbers"):
        models.text_cnn(9, 2)(x)


# --- devices ---


@pytest.mark.device
@pytest.mark.parametrize("name", BUILDERS)
def test_devices_agree(name, device):
    torch.manual_seed(0)
    size = SMALLEST.get(name, 8)
    model = BUILDERS[name](size).eval().double()
    x = torch.randn(2, 3, size, size, dtype=torch.float64)
    with torch.no_grad():
        expected = model(x)
        assert torch.allclose(model.to(device)(x.to(device)).cpu(), expected, atol=1e-8)
