"""The fitted maps as modules: equal to `transform`, saved, restored, exported."""

import io
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from calibkit.recalibration import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    TemperatureScaler,
    VennAbersCalibrator,
    restore,
    tables,
)
from tests.recalibration.samples import ALL, scored

CASES = [(calibrator, classes) for calibrator in ALL for classes in (2, 4)]
ALONE = (TemperatureScaler, BetaCalibrator, HistogramBinning, IsotonicCalibrator)  # two classes
EXPORTED = [(calibrator, 4) for calibrator in ALL] + [(calibrator, 2) for calibrator in ALONE]


def fitted(calibrator, classes, **options):
    return calibrator(**options).fit(*scored(300, classes, dtype=torch.float32))


def fresh(classes, n=64):
    """Logits of which some are beyond all that was fitted on."""
    z = scored(n, classes, seed=1, dtype=torch.float32)[0]
    return torch.cat([z, 40 * z[:4], torch.zeros(1, classes)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("calibrator", "classes"), CASES)
def test_a_module_gives_what_transform_gives(calibrator, classes, dtype):
    map_, z = fitted(calibrator, classes), fresh(classes).to(dtype)
    ours = map_.module()(z)
    assert ours.dtype == dtype
    assert torch.allclose(ours, map_.transform(z), rtol=1e-6, atol=1e-6)


def test_a_temperature_is_the_same_to_the_last_bit():
    map_, z = fitted(TemperatureScaler, 4), fresh(4)
    assert torch.equal(map_.module()(z), map_.transform(z))


@pytest.mark.parametrize(("calibrator", "classes"), CASES)
def test_what_is_saved_is_loaded_with_weights_only(calibrator, classes):
    module, file = fitted(calibrator, classes).module(), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    again = restore(torch.load(file, weights_only=True))
    z = fresh(classes)
    assert type(again) is type(module)
    assert torch.equal(again(z), module(z))
    module.load_state_dict(again.state_dict())


@pytest.mark.parametrize(("calibrator", "classes"), EXPORTED)
def test_export_and_onnx_agree_with_the_module(calibrator, classes):
    module, z = fitted(calibrator, classes).module().eval(), fresh(classes)
    shapes = ({0: torch.export.Dim("n")},)
    exported = torch.export.export(module, (z[:8],), dynamic_shapes=shapes)
    assert torch.allclose(exported.module()(z), module(z), atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        program = torch.onnx.export(exported, dynamo=True, verbose=False)
    model = program.model_proto.SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    theirs, ours = torch.from_numpy(session.run(None, {name: z.numpy()})[0]), module(z)
    assert theirs.dtype == torch.float32
    assert torch.allclose(theirs, ours, rtol=1e-6, atol=1e-6)
    assert torch.allclose(theirs.softmax(1), ours.softmax(1), atol=1e-6)


def test_a_module_stands_behind_a_network_whose_state_holds_both():
    network = nn.Linear(3, 4)
    scaler = fitted(TemperatureScaler, 4)
    both = nn.Sequential(network, scaler.module())
    x = torch.randn(5, 3)
    assert torch.allclose(both(x), network(x) / scaler.temperature)
    assert not list(scaler.module().parameters())
    other = nn.Sequential(nn.Linear(3, 4), TemperatureScaler.of(7.0).module())
    other.load_state_dict(both.state_dict())
    assert torch.equal(other(x), both(x))


def test_gradients_pass_through_a_smooth_map():
    z = fresh(4).requires_grad_()
    fitted(TemperatureScaler, 4).module()(z).sum().backward()
    assert torch.isfinite(z.grad).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 40])
def test_tables_of_any_length_are_read_as_numpy_reads_them(n):
    edges = torch.rand(n, dtype=torch.float64).sort().values
    scores = torch.cat([edges, torch.rand(50, dtype=torch.float64)])[None]
    table = tables.edges_table([edges])
    for at, side in ((False, "left"), (True, "right")):
        ours = tables.passed(scores, table, at=at)
        assert np.array_equal(
            ours[0].numpy(), np.searchsorted(edges.numpy(), scores[0].numpy(), side=side)
        )


@pytest.mark.parametrize("calibrator", [IsotonicCalibrator, VennAbersCalibrator])
def test_few_labels_make_a_module_too(calibrator):
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    map_ = calibrator().fit(z, [0, 0])  # no positive: one step
    assert torch.allclose(map_.module()(2 * z), map_.transform(2 * z), atol=1e-6)


def test_one_bin_has_no_edge():
    map_ = fitted(HistogramBinning, 3, bins=1)
    assert torch.equal(map_.module()(fresh(3)), map_.transform(fresh(3)))


# --- bad input ---


@pytest.mark.parametrize("calibrator", ALL)
def test_a_module_needs_a_fit(calibrator):
    with pytest.raises(NotFittedError, match=calibrator.__name__):
        calibrator().module()


@pytest.mark.parametrize("state", [{}, {"weight": torch.ones(2)}, {"_extra_state": {"map": "No"}}])
def test_a_state_of_something_else_is_refused(state):
    with pytest.raises(ValueError, match=r"^state must name one of \['Affine', .*state_dict\(\)"):
        restore(state)


def test_the_state_of_another_map_is_refused():
    state = fitted(HistogramBinning, 2).module().state_dict()
    with pytest.raises((ValueError, RuntimeError), match="Affine"):
        TemperatureScaler.of(2.0).module().load_state_dict(state)
