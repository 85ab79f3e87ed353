"""What all calibrators share: fit, transform, and scikit-learn's manners."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import traceback
import warnings
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from calibkit import devices, torch_defaults, validate
from calibkit.metrics.top import Weights, kept
from calibkit.recalibration.modules import Affine, Map
from calibkit.validate import Array

INSIDE = os.path.dirname(__file__), os.path.dirname(torch_defaults.__file__)
ROWS = 4096  # hashed at a time: no second copy of them all


class LeakageError(ValueError):
    """A calibrator was asked to score the data that it was fitted on."""


class Seen(NamedTuple):
    """What a calibrator remembers of the logits it was fitted on: their hash, and no value."""

    shape: torch.Size
    dtype: torch.dtype
    digest: bytes


def seen(logits: Tensor) -> Seen:
    """The shape, the type, and a hash of all values in the order of rows; 0 and -0 are one."""
    digest = hashlib.blake2b(digest_size=16)
    for part in logits.detach().split(ROWS):
        digest.update((part + 0).contiguous().cpu().view(torch.uint8).numpy())
    return Seen(logits.shape, logits.dtype, digest.digest())


class Calibrator:
    """The shared fit/transform shape; a subclass gives `_fit`, and `_module` if it is not affine.

    A `_fit` with a third argument, None or the (n,) positive float64 weights of the rows, has them.

    As in scikit-learn, `get_params`, `set_params` and `sklearn.base.clone` know the settings, and
    what `fit` sets has a name with an underscore too: `temperature_` is `temperature`.
    """

    _fitted = False
    _seen: Seen | None = None

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        raise NotImplementedError

    def _module(self) -> Map:
        plain: dict[str, Any] = {"temperature": 1.0, "weight": torch.ones(1)}
        plain["bias"] = torch.zeros(1)
        return Affine(**{name: getattr(self, name, value) for name, value in plain.items()})

    def _apply(self, logits: Tensor) -> Tensor:
        return self._module().to(logits.device)(logits)

    def _learned(self) -> dict[str, Any]:
        """What `fit` set, under the names with an underscore."""
        learned = vars(self).keys() - self._defaults().keys()
        return {f"{name}_": vars(self)[name] for name in learned if name[0] != "_"}

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and name in (learned := self._learned()):
            return learned[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._learned()]

    @torch_defaults.entry(grad=True, moves=True)
    def fit(self, logits: Array, labels: Array, *, weights: Weights = None) -> Self:
        """Fit to calibration logits (n, K) and labels (n,); returns the calibrator itself.

        weights: (n,) of the rows, 0 or more and not all 0; a row of weight 2 counts like two.

        Of the logits it keeps a hash alone. Raises ValueError for probabilities, as `transform`,
        and TypeError for weights where the map has none.
        """
        logits, labels = validate.scores(logits, labels)
        validate.refuse_probs("logits", logits)
        if weights is None:
            self._fit(logits.detach(), labels)
        elif "weights" in inspect.signature(self._fit).parameters:
            self._fit(*kept(weights, logits.detach(), labels))
        else:
            raise TypeError(f"{type(self).__name__} takes no weights; fit it without them")
        self._fitted, self._seen = True, seen(logits)
        return self

    @torch_defaults.entry(moves=True)
    def transform(self, logits: Array, *, allow_fitted: bool = False) -> Tensor:
        """Recalibrated logits (n, K) of test logits (n, K), in their type and on their device.

        Raises NotFittedError before `fit`; ValueError for probabilities, which are known by their
        sums from two rows on; LeakageError for the logits that were fitted on or a copy of them
        in their type or a wider one, all in their order, but not with `allow_fitted=True`.
        """
        self._need_fit()
        logits = validate.logits(logits)
        if self._seen and logits.shape[1] != self._seen.shape[1]:
            raise ValueError(
                f"logits must have the {self._seen.shape[1]} classes that were fitted, "
                f"got shape {tuple(logits.shape)}"
            )
        validate.refuse_probs("logits", logits)
        known = None if allow_fitted else self._seen
        # in the type of the fit or a wider one
        if known and logits.shape == known.shape and seen(logits.to(known.dtype)) == known:
            raise LeakageError(
                "logits hold the very data that the calibrator was fitted on, so any score would "
                "flatter it; pass test logits, or allow_fitted=True if that is what you ask for"
            )
        return self._apply(logits)

    @torch_defaults.entry(moves=True)
    def probs(self, logits: Array, *, allow_fitted: bool = False) -> Tensor:
        """Recalibrated probabilities (n, K): the softmax of `transform(logits)`."""
        return self.transform(logits, allow_fitted=allow_fitted).softmax(dim=1)

    @torch_defaults.entry
    def module(self) -> Map:
        """The fitted map as a module, logits (n, K) to logits (n, K), on the device of the fit.

        Its numbers are buffers, not trained on, and it looks at no argument: put it behind a
        network (`nn.Sequential(network, scaler.module())`), save its `state_dict`, give it to
        `torch.export` or `torch.onnx.export`. `restore` makes it again from the `state_dict` alone,
        as `torch.load(path, weights_only=True)` gives it. Raises NotFittedError before `fit`.
        """
        self._need_fit()
        return self._module()

    def _need_fit(self) -> None:
        if not self._fitted:
            from sklearn.exceptions import NotFittedError  # which loads pandas

            raise NotFittedError(f"call {type(self).__name__}.fit(logits, labels) first")

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps: tensors on the CPU, so that a machine without a GPU can read them."""
        return devices.moved(dict(vars(self)), "cpu")

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: s.default for name, s in inspect.signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; `deep` changes nothing."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change settings for the next `fit`; raises as the constructor does."""
        for name in params:
            validate.choice("params", name, tuple(self._defaults()))
        vars(self).update(vars(type(self)(**self.get_params() | params)))
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k]}
        parts = [f"{name}={value!r}" for name, value in changed.items()]
        return f"{type(self).__name__}({', '.join([*parts, self._state()])})"

    def _state(self) -> str:
        return f"fitted for {self._seen.shape[1]} classes" if self._seen else "not fitted"


def warn(message: str) -> None:
    """Warn at the caller's own line, the first one outside these folders."""
    stack = traceback.walk_stack(sys._getframe())
    files = enumerate((frame.f_code.co_filename for frame, _ in stack), 1)
    level = next(level for level, file in files if os.path.dirname(file) not in INSIDE)
    warnings.warn(message, UserWarning, stacklevel=level)
