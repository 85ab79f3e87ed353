"""Networks of the papers: functions that take shapes and return an `nn.Module`.

Every model has `.head`, its last linear layer, and `.features(x)`, the inputs of that layer,
so that `model(x)` equals `model.head(model.features(x))`. Initialisation is PyTorch's own:
seed it with `torch.manual_seed` before the call.
"""

from calibkit.models.dense import mlp

__all__ = ["mlp"]
