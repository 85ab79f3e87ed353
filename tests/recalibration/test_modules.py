"""The fitted maps as modules: equal to `transform`, saved, restored, exported."""

import io
import warnings

import pytest
import torch

from calibkit.recalibration import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    TemperatureEnsemble,
    TemperatureScaler,
    VennAbersCalibrator,
    restore,
)
from tests.recalibration.samples import ALL, quick, scored

CASES = [(calibrator, classes) for calibrator in ALL for classes in (2, 4)]
EXPORTED = [  # of each kind of map one
    *((TemperatureScaler, 4), (TemperatureEnsemble, 4), (HistogramBinning, 4)),
    *((VennAbersCalibrator, 4), (BetaCalibrator, 2), (IsotonicCalibrator, 2)),
]


def fitted(calibrator, classes):
    return quick(calibrator).fit(*scored(300, classes, dtype=torch.float32))


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


@pytest.mark.slow
@pytest.mark.parametrize(("calibrator", "classes"), EXPORTED)
def test_export_and_onnx_agree_with_the_module(calibrator, classes):
    import onnxruntime

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


def test_the_state_of_another_map_is_refused():
    state = fitted(HistogramBinning, 2).module().state_dict()
    with pytest.raises((ValueError, RuntimeError), match="Affine"):
        TemperatureScaler.of(2.0).module().load_state_dict(state)
