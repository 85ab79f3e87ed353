"""Networks of the papers: functions that take shapes and return an `nn.Module`.

Every model has `.head`, its last linear layer, and `.features(x)`, the inputs of that layer,
so that `model(x)` equals `model.head(model.features(x))`. Initialisation is PyTorch's own:
seed it with `torch.manual_seed` before the call.
"""

from calibkit.lab.models.base import Classifier
from calibkit.lab.models.patches import mlp_mixer, vit
from calibkit.lab.models.plain import cnn, convnet, lenet5, mlp
from calibkit.lab.models.residual import (
    densenet121,
    resnet,
    resnet18,
    resnet34,
    resnet50,
    wide_resnet,
)
from calibkit.lab.models.text import text_bag, text_cnn, text_lstm, text_transformer

__all__ = [
    "Classifier", "cnn", "convnet", "densenet121", "lenet5", "mlp", "mlp_mixer", "resnet",
    "resnet18", "resnet34", "resnet50", "text_bag", "text_cnn", "text_lstm", "text_transformer",
    "vit", "wide_resnet",
]  # fmt: skip
