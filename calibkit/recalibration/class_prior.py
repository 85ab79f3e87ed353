"""Another prior of the classes: it is known, so that nothing is fitted."""

from __future__ import annotations

from torch import Tensor

from calibkit import validate
from calibkit.validate import Array


def change_prior(probs: Array, *, old: Array, new: Array) -> Tensor:
    """(n, K) float64 probabilities where the classes occur with other shares.

        p'_k = p_k new_k / old_k, divided by the sum over k

    By Bayes' rule the exact posterior under the prior `old` becomes that under `new`, as long as
    the images *of* each class stay the same.

    probs (n, K); old (K,) positive, new (K,): shares of the classes, of sum 1. Raises ValueError
    for shares that are none, for a class that `old` does not have, and for a row that is impossible
    under `new`: all its probability lies on classes that have none there.
    Source: Saerens et al. 2002, equation 2.4.

    >>> change_prior([[0.5, 0.5]], old=[0.8, 0.2], new=[0.5, 0.5])[0].tolist()  # .5/.8 : .5/.2
    [0.2, 0.8]
    """
    probs = validate.probs(probs)
    weighted = probs.double() * _prior_ratio(old, new, probs)
    total = weighted.sum(dim=1, keepdim=True)
    if not bool((total > 0).all()):
        row = int(total.argmin())
        raise ValueError(
            f"new must leave each row possible, but row {row} of probs, {probs[row].tolist()}, has "
            f"probability on classes of share 0 alone; give them a small share"
        )
    return weighted / total


def logit_adjustment(logits: Array, *, old: Array, new: Array) -> Tensor:
    """Logits (n, K) for another prior: z_k + log(new_k / old_k), the prior correction.

    Their softmax is `change_prior` of the softmax of `logits`. Arguments and errors as there;
    `new` must be positive too, for no logit may be minus infinity. ValueError for probabilities.
    Source: Menon et al. 2021, equation 8, with tau = 1.

    >>> z = logit_adjustment([[0.0, 0.0]], old=[0.8, 0.2], new=[0.5, 0.5])
    >>> [round(p, 4) for p in z.softmax(dim=1)[0].tolist()]
    [0.2, 0.8]
    """
    logits = validate.logits(logits)
    validate.refuse_probs("logits", logits)
    ratio = _prior_ratio(old, new, logits)
    if bool((ratio == 0).any()):
        raise ValueError(f"new must be positive for logits, got {new}; use change_prior")
    return logits + ratio.log().to(logits)


def _prior_ratio(old: Array, new: Array, like: Tensor) -> Tensor:
    """(K,) float64 new / old on the device of `like` (n, K)."""
    before, after = (
        validate.distribution(name, prior, like.shape[1])
        for name, prior in (("old", old), ("new", new))
    )
    if bool((before == 0).any()):
        absent = (before == 0).nonzero()[:, 0].tolist()
        raise ValueError(f"old must be positive, got 0 for class {absent}; leave the class out")
    return (after / before).to(like.device)
