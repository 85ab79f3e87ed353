"""A second independent set of answers: the 24 newest exercises of lessons 03 to 18.

Written from the texts of the exercises alone, before anything of the checkers was read. `WRONG`
has, for each exercise, pairs of a sentence that names the true mistake and the body of an answer
that makes it. `RIGHT` has pairs of the unusual form and the body of an answer in it. `SIGNATURES`
has the head of each exercise as its lesson prints it; a body sees the names of `built`. `TABLE` has
all of them as `adversary.TABLE` has the first set, for `adversary.score`.

What makes an answer wrong is said there, too. `adversary_second_outcome.csv` has what the checkers
made of each wrong one, before anything was mended for this set and after.
"""

import linecache
import math

import numpy as np
import pandas as pd
import torch
from torch.nn import functional

from calibkit import metrics
from tests.course.check.adversary import Answer

SIGNATURES = {
    "early_stop": "losses, patience",
    "nll_parts": "probs, labels",
    "patch_tokens": "images, patch",
    "attention": "queries, keys, values",
    "class_errors": "probs, labels, order",
    "other_prior": "probs, old, new",
    "selective_risk": "confidence, correct, coverage",
    "penalty_posterior": "p, weight",
    "gamma_star": "p0",
    "sample_gamma": "p",
    "ensemble_probs": "logits",
    "informed_posterior": "scores, one_hot, old, new",
    "strange_auroc": "familiar, strange",
    "lost_confidence": "probs",
    "top_entropy": "probs, share",
    "chosen_gap": "posterior, labels, chosen",
    "selection_cost": "share, warmup, epochs, scoring",
    "note_probability": "words, start, moves, says",
    "masked_mean": "vectors, texts",
    "next_law": "translations, probs, prefix, words",
    "masked_gap": "probs, labels",
    "avoidable_brier": "probs, posterior",
}

WRONG = {
    "early_stop": [
        (
            "Of equal lowest values it keeps the last one instead of the first.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss <= losses[kept]:
        kept = epoch
    if epoch - kept >= patience:
        break
return kept, epoch
""",
        ),
        (
            "It stops one epoch too late: it waits for more than `patience` epochs without a "
            "new lowest value.",
            """
best, kept, bad = float("inf"), 0, 0
for epoch, loss in enumerate(losses):
    if loss < best:
        best, kept, bad = loss, epoch, 0
    else:
        bad += 1
        if bad > patience:
            return kept, epoch
return kept, len(losses) - 1
""",
        ),
        (
            "It stops one epoch too early, as it counts the kept epoch itself among those "
            "that waited.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch > kept and epoch - kept + 1 >= patience:
        break
return kept, epoch
""",
        ),
        (
            "It compares with the epoch before and not with the lowest value so far.",
            """
kept, bad = 0, 0
for epoch in range(1, len(losses)):
    if losses[epoch] < losses[kept]:
        kept = epoch
    if losses[epoch] < losses[epoch - 1]:
        bad = 0
    else:
        bad += 1
    if bad == patience:
        return kept, epoch
return kept, len(losses) - 1
""",
        ),
        (
            "It never sets the count of bad epochs back to 0 after a new lowest value.",
            """
best, kept, bad = float(losses[0]), 0, 0
for epoch in range(1, len(losses)):
    if losses[epoch] < best:
        best, kept = float(losses[epoch]), epoch
    else:
        bad += 1
    if bad == patience:
        return kept, epoch
return kept, len(losses) - 1
""",
        ),
        (
            "It keeps the lowest of all epochs, also of those after the stop.",
            """
low = 0
for epoch, loss in enumerate(losses):
    if loss < losses[low]:
        low = epoch
    if epoch - low == patience:
        break
return int(np.argmin([float(one) for one in losses])), epoch
""",
        ),
        (
            "It counts the epochs from 1 instead of 0.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch - kept == patience:
        break
return kept + 1, epoch + 1
""",
        ),
        (
            "It returns the two numbers in the wrong order: the last epoch first.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch - kept == patience:
        break
return epoch, kept
""",
        ),
        (
            "Where the rule never stops, it returns a last epoch that was not trained: kept + "
            "patience.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch - kept == patience:
        break
return kept, kept + patience
""",
        ),
        (
            "It ignores gains of less than 0.001 (a tolerance that the exercise does not have).",
            """
best, kept, bad = float("inf"), 0, 0
for epoch, loss in enumerate(losses):
    if float(loss) < best - 1e-3:
        best, kept, bad = float(loss), epoch, 0
    else:
        bad += 1
    if bad == patience:
        break
return kept, epoch
""",
        ),
        (
            "It returns how many epochs were trained and not the number of the last one.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch - kept == patience:
        break
return kept, epoch + 1
""",
        ),
        (
            "It returns the lowest value and not the epoch at which it was reached.",
            """
kept = 0
for epoch, loss in enumerate(losses):
    if loss < losses[kept]:
        kept = epoch
    if epoch - kept == patience:
        break
return float(losses[kept]), epoch
""",
        ),
    ],
    "nll_parts": [
        (
            "Each part is divided by its own number of predictions instead of by all of them.",
            """
loss = -probs.double().gather(1, labels[:, None])[:, 0].log()
right = probs.argmax(dim=1) == labels
return loss[right].mean(), loss[~right].mean()
""",
        ),
        (
            "The two parts are in the wrong order: the wrong ones come first.",
            """
loss = -torch.log(probs[torch.arange(len(labels)), labels])
right = probs.argmax(dim=1) == labels
return loss[~right].sum() / len(labels), loss[right].sum() / len(labels)
""",
        ),
        (
            "The logarithm has base 2.",
            """
loss = -torch.log2(probs.gather(1, labels[:, None]).squeeze(1))
right = (probs.argmax(dim=1) == labels).to(loss.dtype)
return (loss * right).mean(), (loss * (1 - right)).mean()
""",
        ),
        (
            "It takes the probability of the predicted class instead of that of the label.",
            """
confidence, predicted = probs.max(dim=1)
loss = -confidence.log()
right = predicted == labels
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
        (
            "The minus sign before the logarithm is missing.",
            """
loss = probs.gather(1, labels[:, None])[:, 0].log()
right = probs.argmax(dim=1) == labels
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
        (
            "The second number is the whole NLL and not the part of the wrong predictions.",
            """
loss = -probs.gather(1, labels[:, None])[:, 0].log()
right = probs.argmax(dim=1) == labels
return loss[right].sum() / len(labels), loss.mean()
""",
        ),
        (
            "A constant of 0.001 is added inside the logarithm, so a small probability is "
            "priced too low.",
            """
loss = -torch.log(probs.gather(1, labels[:, None])[:, 0] + 1e-3)
right = probs.argmax(dim=1) == labels
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
        (
            "It calls a prediction right where the label has more than one half, not where it "
            "is the largest.",
            """
p = probs.gather(1, labels[:, None])[:, 0]
loss = -p.log()
right = p > 0.5
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
        (
            "The probabilities are put through a softmax once more (cross_entropy wants logits).",
            """
loss = F.cross_entropy(probs, labels, reduction="none")
right = probs.argmax(dim=1) == labels
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
        (
            "The parts are sums: nothing is divided by the number of predictions.",
            """
loss = -probs.gather(1, labels[:, None])[:, 0].log()
right = probs.argmax(dim=1) == labels
return loss[right].sum(), loss[~right].sum()
""",
        ),
        (
            "The wrong predictions are priced by -log(1 - p of the predicted class), not by "
            "their label.",
            """
right = probs.argmax(dim=1) == labels
top = probs.amax(dim=1)
loss = torch.where(right, -top.log(), -(1 - top).log())
return (loss * right).sum() / len(labels), (loss * ~right).sum() / len(labels)
""",
        ),
        (
            "It clips the caller's `probs` in place at 0.001: input and small probabilities "
            "are changed.",
            """
probs.clamp_(min=1e-3)
loss = -probs.gather(1, labels[:, None])[:, 0].log()
right = probs.argmax(dim=1) == labels
return loss[right].sum() / len(labels), loss[~right].sum() / len(labels)
""",
        ),
    ],
    "patch_tokens": [
        (
            "The axes are not exchanged, so a token is made of pieces of one row of the image.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.reshape(n, -1, patch * patch)
""",
        ),
        (
            "The patches come in the order of columns: down the left side first.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.permute(0, 3, 1, 2, 4).reshape(n, -1, patch * patch)
""",
        ),
        (
            "The pixels within a patch come in the order of columns.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.permute(0, 1, 3, 4, 2).reshape(n, -1, patch * patch)
""",
        ),
        (
            "The last two axes are exchanged: (n, patch * patch, tokens), as unfold returns them.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.transpose(2, 3).reshape(n, -1, patch * patch).transpose(1, 2)
""",
        ),
        (
            "The patches overlap: the window moves by one pixel and not by `patch`.",
            """
windows = images.unfold(1, patch, 1).unfold(2, patch, 1)
return windows.reshape(len(images), -1, patch * patch)
""",
        ),
        (
            "It takes the height for the width, so it works for square images alone.",
            """
n, side, _ = images.shape
grid = images.reshape(n, side // patch, patch, side // patch, patch)
return grid.transpose(2, 3).reshape(n, -1, patch * patch)
""",
        ),
        (
            "`patch` is taken for the number of patches along a side, not for the side of a patch.",
            """
n, height, width = images.shape
grid = images.reshape(n, patch, height // patch, patch, width // patch)
return grid.transpose(2, 3).reshape(n, patch * patch, -1)
""",
        ),
        (
            "The side of a patch is fixed at 4, the argument is ignored.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // 4, 4, width // 4, 4)
return grid.transpose(2, 3).reshape(n, -1, 16)
""",
        ),
        (
            "The rows of patches are read from the bottom of the image upwards.",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.flip(1).transpose(2, 3).reshape(n, -1, patch * patch)
""",
        ),
        (
            "Images and tokens are merged into one axis: (n * tokens, patch * patch).",
            """
n, height, width = images.shape
grid = images.reshape(n, height // patch, patch, width // patch, patch)
return grid.transpose(2, 3).reshape(-1, patch * patch)
""",
        ),
        (
            "It cuts the first image alone and repeats its tokens for all.",
            """
n, height, width = images.shape
grid = images[0].reshape(height // patch, patch, width // patch, patch)
return grid.transpose(1, 2).reshape(1, -1, patch * patch).expand(n, -1, -1)
""",
        ),
        (
            "It returns the mean of each patch and not its pixels.",
            """
return F.avg_pool2d(images[:, None].double(), patch).flatten(1)
""",
        ),
    ],
    "attention": [
        (
            "The softmax runs down the columns (over the queries) instead of along each row.",
            """
scores = queries @ keys.T / keys.shape[1] ** 0.5
return scores.softmax(dim=0) @ values
""",
        ),
        (
            "The scores are divided by d and not by the square root of d.",
            """
scores = queries @ keys.T / keys.shape[1]
return scores.softmax(dim=1) @ values
""",
        ),
        (
            "The scores are not divided by the square root of d.",
            """
return torch.softmax(queries @ keys.T, dim=-1) @ values
""",
        ),
        (
            "The scores are divided by the square root of the number of tokens, not of d.",
            """
scores = queries @ keys.T / math.sqrt(len(keys))
return scores.softmax(dim=1) @ values
""",
        ),
        (
            "Keys and queries are exchanged: row i compares key i with every query.",
            """
scores = keys @ queries.T / keys.shape[1] ** 0.5
return scores.softmax(dim=1) @ values
""",
        ),
        (
            "The division by the square root of d comes after the softmax.",
            """
weights = (queries @ keys.T).softmax(dim=1) / math.sqrt(queries.shape[1])
return weights @ values
""",
        ),
        (
            "It returns the shares alone; they are not multiplied by the values.",
            """
scores = queries @ keys.T / math.sqrt(queries.shape[1])
return scores.softmax(dim=1)
""",
        ),
        (
            "A causal mask hides the later tokens, which the formula does not have.",
            """
scores = queries @ keys.T / math.sqrt(queries.shape[1])
hidden = torch.ones_like(scores).triu(1).bool()
return scores.masked_fill(hidden, -math.inf).softmax(dim=1) @ values
""",
        ),
        (
            "The exponentials are taken without subtracting the largest score: large scores "
            "overflow to NaN.",
            """
weights = torch.exp(queries @ keys.T / math.sqrt(queries.shape[1]))
return weights / weights.sum(dim=1, keepdim=True) @ values
""",
        ),
        (
            "The scores are multiplied by the square root of d instead of divided by it.",
            """
scores = queries @ keys.T * math.sqrt(queries.shape[1])
return scores.softmax(dim=1) @ values
""",
        ),
        (
            "The square root of d is a constant, 4: right for d = 16 alone.",
            """
return F.softmax(queries @ keys.T / 4, dim=1) @ values
""",
        ),
        (
            "The values are added to the result once more (a residual connection).",
            """
scores = queries @ keys.T / math.sqrt(queries.shape[1])
return values + scores.softmax(dim=1) @ values
""",
        ),
        (
            "The largest score of the whole matrix is subtracted: other rows underflow to 0 / 0.",
            """
scores = queries @ keys.T / math.sqrt(keys.shape[1])
weights = torch.exp(scores - scores.max())
return weights / weights.sum(dim=1, keepdim=True) @ values
""",
        ),
        (
            "It compares the queries with the values and not with the keys.",
            """
scores = queries @ values.T / math.sqrt(keys.shape[1])
return scores.softmax(dim=1) @ values
""",
        ),
    ],
    "class_errors": [
        (
            "The errors come in the order of the class numbers; `order` is only counted.",
            """
errors = []
for k in range(len(order)):
    member = labels == k
    errors.append(metrics.ece(probs[member], labels[member]))
return errors
""",
        ),
        (
            "It groups the images by the predicted class instead of by the label.",
            """
predicted = probs.argmax(dim=1)
errors = []
for k in order:
    member = predicted == k
    errors.append(metrics.ece(probs[member], labels[member]) if member.any() else 0.0)
return errors
""",
        ),
        (
            "The list runs from the rarest class to the commonest.",
            """
errors = []
for k in reversed(list(order)):
    member = labels == k
    errors.append(metrics.ece(probs[member], labels[member]))
return errors
""",
        ),
        (
            "It returns the signed gap of each class and not its ECE.",
            """
return [metrics.signed_gap(probs[labels == k], labels[labels == k]) for k in order]
""",
        ),
        (
            "Each error is multiplied by the share of the class.",
            """
errors = []
for k in order:
    member = labels == k
    errors.append(metrics.ece(probs[member], labels[member]) * member.double().mean().item())
return errors
""",
        ),
        (
            "It puts the error of class k at place order[k]: the inverse of the wanted order.",
            """
errors = [0.0] * len(order)
for k, place in enumerate(order):
    member = labels == k
    errors[int(place)] = metrics.ece(probs[member], labels[member])
return errors
""",
        ),
        (
            "Without bins: the absolute value of mean confidence minus accuracy of each class.",
            """
errors = []
for k in order:
    member = labels == k
    confidence, predicted = probs[member].double().max(dim=1)
    errors.append(abs(confidence.mean() - (predicted == k).double().mean()).item())
return errors
""",
        ),
        (
            "It uses 10 bins instead of the 15 of metrics.ece.",
            """
return [metrics.ece(probs[labels == k], labels[labels == k], bins=10) for k in order]
""",
        ),
        (
            "It returns the mean of the errors: one number instead of one for each class.",
            """
errors = [metrics.ece(probs[labels == k], labels[labels == k]) for k in order]
return sum(errors) / len(errors)
""",
        ),
        (
            "It treats each class as one against the rest, over all images, by the "
            "probability of this class.",
            """
errors = []
for k in order:
    two = torch.stack([1 - probs[:, k], probs[:, k]], dim=1)
    errors.append(metrics.ece(two, (labels == k).long()))
return errors
""",
        ),
        (
            "It gives the whole ECE for each class: the mask is never used.",
            """
return [metrics.ece(probs, labels) for k in order]
""",
        ),
        (
            "Ten classes are fixed: range(10) in the place of the length of `order`.",
            """
errors = [metrics.ece(probs[labels == k], labels[labels == k]) for k in range(10)]
return [errors[int(k)] for k in order]
""",
        ),
    ],
    "other_prior": [
        (
            "Old and new shares are exchanged.",
            """
weighted = probs * old / new
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It multiplies by the new shares, but does not divide by the old ones.",
            """
weighted = probs * new
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The rows are not divided by their sums, so they do not sum to 1.",
            """
return probs * new / old
""",
        ),
        (
            "It divides by the sums of the columns and not by those of the rows.",
            """
weighted = probs * (new / old)
return weighted / weighted.sum(dim=0, keepdim=True)
""",
        ),
        (
            "It divides by the sum of the whole matrix instead of the sum of each row.",
            """
weighted = probs * (new / old)
return weighted / weighted.sum()
""",
        ),
        (
            "A softmax stands in place of the division by the sum of each row.",
            """
return (probs * new / old).softmax(dim=1)
""",
        ),
        (
            "It adds the change of the shares instead of multiplying by their ratio.",
            """
shifted = (probs + new - old).clamp(min=0)
return shifted / shifted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It writes into the caller's `probs`: the result is right, the input is changed.",
            """
probs *= new / old
probs /= probs.sum(dim=1, keepdim=True)
return probs
""",
        ),
        (
            "It takes the mean of `probs` for the old shares and ignores `old`.",
            """
weighted = probs * new / probs.mean(dim=0)
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It adds 0.01 to both shares against a division by zero, which changes rare classes.",
            """
weighted = probs * (new + 0.01) / (old + 0.01)
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It takes the square root of the ratio of the shares.",
            """
weighted = probs * torch.sqrt(new / old)
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The factor is fixed for ten equally common classes: it multiplies by `new` and "
            "divides by 1/10.",
            """
weighted = probs * new / 0.1
return weighted / weighted.sum(dim=1, keepdim=True)
""",
        ),
    ],
    "selective_risk": [
        (
            "It keeps the least confident predictions.",
            """
kept = confidence.argsort()[:round(coverage * len(confidence))]
return 1 - correct[kept].double().mean()
""",
        ),
        (
            "It returns the accuracy of what is kept, not the error rate.",
            """
kept = confidence.argsort(descending=True)[:round(coverage * len(confidence))]
return correct[kept].double().mean()
""",
        ),
        (
            "The number kept is cut off by int() instead of rounded.",
            """
kept = confidence.argsort(descending=True)[:int(coverage * len(confidence))]
return 1 - correct[kept].double().mean()
""",
        ),
        (
            "The errors among the kept are divided by the number of all predictions.",
            """
kept = confidence.argsort(descending=True)[:round(coverage * len(confidence))]
return (~correct.bool()[kept]).sum().item() / len(confidence)
""",
        ),
        (
            "`coverage` is taken for a threshold of the confidence.",
            """
kept = confidence >= coverage
return 1 - correct[kept].double().mean() if kept.any() else torch.tensor(0.0)
""",
        ),
        (
            "The number kept is rounded up.",
            """
kept = confidence.argsort(descending=True)[:math.ceil(coverage * len(confidence))]
return 1 - correct[kept].double().mean()
""",
        ),
        (
            "It returns the error rate of the predictions that are handed on, not of those kept.",
            """
handed = confidence.argsort(descending=True)[round(coverage * len(confidence)):]
if len(handed) == 0:
    return torch.tensor(0.0)
return 1 - correct[handed].double().mean()
""",
        ),
        (
            "It returns 1 minus the mean confidence of the kept: the claimed error, not the "
            "real one.",
            """
kept = confidence.sort(descending=True).values[:round(coverage * len(confidence))]
return 1 - kept.double().mean()
""",
        ),
        (
            "It takes the first predictions as they come: nothing is sorted.",
            """
count = round(coverage * len(confidence))
return 1 - correct[:count].double().mean()
""",
        ),
        (
            "It returns the number of errors and not their rate.",
            """
kept = confidence.argsort(descending=True)[:round(coverage * len(confidence))]
return (1 - correct[kept].double()).sum()
""",
        ),
        (
            "It returns the mean of the risks at all smaller coverages (the area under the curve).",
            """
kept = confidence.argsort(descending=True)[:round(coverage * len(confidence))]
wrong = 1 - correct[kept].double()
return (wrong.cumsum(0) / torch.arange(1, len(kept) + 1)).mean()
""",
        ),
        (
            "Only the confidences are sorted; the hits stay in their old order.",
            """
confidence = confidence.sort(descending=True).values
count = round(coverage * len(confidence))
limit = confidence[count - 1]
return 1 - correct[confidence >= limit].double().mean()
""",
        ),
        (
            "It always keeps 70 %, as in the text below the exercise.",
            """
kept = confidence.argsort(descending=True)[:round(0.7 * len(confidence))]
return 1 - correct[kept].double().mean()
""",
        ),
    ],
    "penalty_posterior": [
        (
            "The entropy has the wrong sign.",
            """
entropy = -(p * p.log()).sum(dim=1, keepdim=True)
return p * (1 + weight * (p.log() - entropy))
""",
        ),
        (
            "The constant c is taken as 1: the entropy is missing.",
            """
return p * (1 + weight * p.log())
""",
        ),
        (
            "It divides each row by its sum instead of solving for c.",
            """
q = p * (1 + weight * p.log())
return q / q.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The weight has the wrong sign, as if a penalty were added and not undone.",
            """
entropy = -(p * p.log()).sum(dim=1, keepdim=True)
return p * (1 - weight * (entropy + p.log()))
""",
        ),
        (
            "The entropy is summed over all rows together, not row by row.",
            """
entropy = -(p * p.log()).sum()
return p * (1 + weight * (entropy + p.log()))
""",
        ),
        (
            "It raises p to the power 1 + weight: a temperature.",
            """
q = p ** (1 + weight)
return q / q.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The entropy is in bits, the other logarithm in nats.",
            """
entropy = -(p * p.log2()).sum(dim=1, keepdim=True)
return p * (1 + weight * (entropy + p.log()))
""",
        ),
        (
            "It undoes label smoothing and not the penalty.",
            """
K = p.shape[1]
return (p - weight / K) / (1 - weight)
""",
        ),
        (
            "The entropy is summed over the rows (dim=0) instead of the classes.",
            """
entropy = -(p * p.log()).sum(dim=0, keepdim=True)
return p * (1 + weight * (entropy + p.log()))
""",
        ),
        (
            "The factor p before the bracket is missing.",
            """
entropy = -(p * p.log()).sum(dim=1, keepdim=True)
return 1 + weight * (entropy + p.log())
""",
        ),
        (
            "The entropy is the mean over the classes and not their sum.",
            """
entropy = -(p * p.log()).mean(dim=1, keepdim=True)
return p * (1 + weight * (entropy + p.log()))
""",
        ),
        (
            "Logarithms of base 2 throughout.",
            """
entropy = -(p * p.log2()).sum(dim=1, keepdim=True)
return p * (1 + weight * (entropy + p.log2()))
""",
        ),
        (
            "The entropy is read from the first row and used for all.",
            """
entropy = -(p[0] * p[0].log()).sum()
return p * (1 + weight * (entropy + p.log()))
""",
        ),
    ],
    "gamma_star": [
        (
            "It uses the principal branch of W, which gives gamma = 0.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return (-lambertw(-r * math.exp(-r)).real / r - 1) / s
""",
        ),
        (
            "It returns a complex number: .real is missing.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return (-lambertw(-r * math.exp(-r), -1) / r - 1) / s
""",
        ),
        (
            "The division by s is missing.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return -lambertw(-r * math.exp(-r), -1).real / r - 1
""",
        ),
        (
            "The -1 in the bracket is missing.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return -lambertw(-r * math.exp(-r), -1).real / r / s
""",
        ),
        (
            "The logarithms have base 10.",
            """
from scipy.special import lambertw
s = -p0 * math.log10(p0) / (1 - p0)
r = -math.log10(1 - p0) / s
return (-lambertw(-r * math.exp(-r), -1).real / r - 1) / s
""",
        ),
        (
            "It always returns 5, the gamma of FLSD-53 below 0.2.",
            """
return 5.0
""",
        ),
        (
            "In s the factor p0 / (1 - p0) is upside down.",
            """
from scipy.special import lambertw
s = -(1 - p0) * math.log(p0) / p0
r = -math.log(1 - p0) / s
return (-lambertw(-r * math.exp(-r), -1).real / r - 1) / s
""",
        ),
        (
            "gamma is rounded to a whole number.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return round((-lambertw(-r * math.exp(-r), -1).real / r - 1) / s)
""",
        ),
        (
            "It searches gamma between 1 and 10 only, and gamma* lies outside for small or "
            "large p0.",
            """
from scipy.optimize import minimize_scalar
s = -p0 * math.log(p0) / (1 - p0)
def off(gamma):
    return abs((1 - p0) ** gamma * (1 + gamma * s) - 1)
return minimize_scalar(off, bounds=(1, 10), method="bounded", options={"xatol": 1e-9}).x
""",
        ),
        (
            "It multiplies by s instead of dividing by it.",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return (-lambertw(-r * math.exp(-r), -1).real / r - 1) * s
""",
        ),
        (
            "A minus sign in the exponent is lost: exp(r) instead of exp(-r).",
            """
from scipy.special import lambertw
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
return (-lambertw(-r * math.exp(r), -1).real / r - 1) / s
""",
        ),
    ],
    "sample_gamma": [
        (
            "The edges belong to the wrong side: p = 0.2 gets 5 and p = 0.5 gets 3.",
            """
return torch.where(p <= 0.2, 5.0, torch.where(p <= 0.5, 3.0, 2.0))
""",
        ),
        (
            "bucketize counts a value on an edge to the lower bin: p = 0.2 gets 5 and p = 0.5 "
            "gets 3.",
            """
edges = torch.tensor([0.2, 0.5], dtype=p.dtype)
return torch.tensor([5.0, 3.0, 2.0])[torch.bucketize(p, edges)]
""",
        ),
        (
            "The order is turned round: the sure images get 5, the missed ones 2.",
            """
return torch.where(p < 0.2, 2.0, torch.where(p < 0.5, 3.0, 5.0))
""",
        ),
        (
            "The second assignment overwrites the first: images below 0.2 get 3 and not 5.",
            """
gammas = torch.full_like(p, 2.0)
gammas[p < 0.2] = 5.0
gammas[p < 0.5] = 3.0
return gammas
""",
        ),
        (
            "It is FLSD-53: images of 0.5 or more get 3 instead of 2.",
            """
return torch.where(p < 0.2, 5.0, 3.0)
""",
        ),
        (
            "All images get one gamma, that of the mean probability.",
            """
mean = p.mean()
gamma = 5.0 if mean < 0.2 else 3.0 if mean < 0.5 else 2.0
return torch.full_like(p, gamma)
""",
        ),
        (
            "It writes the gammas into `p`, and compares its own gammas in the next line.",
            """
p[p < 0.2] = 5.0
p[(p >= 0.2) & (p < 0.5)] = 3.0
p[p >= 0.5] = 2.0
return p
""",
        ),
        (
            "It writes into the caller's `p`: the result is right, the input is changed.",
            """
low, middle = p < 0.2, (p >= 0.2) & (p < 0.5)
p.fill_(2.0)
p[low], p[middle] = 5.0, 3.0
return p
""",
        ),
        (
            "The steps are added up wrongly: below 0.2 it gives 6.",
            """
return 2.0 + 1.0 * (p < 0.5) + 3.0 * (p < 0.2)
""",
        ),
        (
            "The probability is turned round: it compares 1 - p with the thresholds.",
            """
wrong = 1 - p
return 2.0 + 1.0 * (wrong < 0.5) + 2.0 * (wrong < 0.2)
""",
        ),
        (
            "The lower threshold is 0.25 instead of 0.2.",
            """
return torch.where(p < 0.25, 5.0, torch.where(p < 0.5, 3.0, 2.0))
""",
        ),
    ],
    "ensemble_probs": [
        (
            "It averages the logits and takes the softmax afterwards.",
            """
return logits.mean(dim=0).softmax(dim=1)
""",
        ),
        (
            "The softmax runs over the images and not over the classes.",
            """
return logits.softmax(dim=1).mean(dim=0)
""",
        ),
        (
            "The softmax runs over the networks and not over the classes.",
            """
return logits.softmax(dim=0).mean(dim=0)
""",
        ),
        (
            "The mean is taken over the images and not over the networks: (R, K).",
            """
return logits.softmax(dim=2).mean(dim=1)
""",
        ),
        (
            "It averages the log-probabilities: a geometric mean, whose rows do not sum to 1.",
            """
return logits.log_softmax(dim=-1).mean(dim=0).exp()
""",
        ),
        (
            "The probabilities of the networks are added up and not divided by their number.",
            """
return logits.softmax(dim=-1).sum(dim=0)
""",
        ),
        (
            "It is a vote: the share of networks that predict a class, not the mean probability.",
            """
votes = F.one_hot(logits.argmax(dim=2), logits.shape[2])
return votes.double().mean(dim=0)
""",
        ),
        (
            "It takes the median over the networks, not the mean.",
            """
return logits.softmax(dim=2).quantile(0.5, dim=0)
""",
        ),
        (
            "The number of networks is fixed at 5.",
            """
return logits.softmax(dim=2).sum(dim=0) / 5
""",
        ),
        (
            "The exponentials are taken without subtracting the largest logit: large logits "
            "give NaN.",
            """
weights = logits.exp()
return (weights / weights.sum(dim=2, keepdim=True)).mean(dim=0)
""",
        ),
        (
            "It takes the first network alone.",
            """
return logits[0].softmax(dim=1)
""",
        ),
        (
            "It averages log-probabilities and normalises again: a product of experts, not a mean.",
            """
together = logits.log_softmax(dim=2).mean(dim=0).exp()
return together / together.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The largest logit of all networks and images is subtracted: other rows underflow "
            "to 0 / 0.",
            """
weights = (logits - logits.max()).exp()
return (weights / weights.sum(dim=2, keepdim=True)).mean(dim=0)
""",
        ),
    ],
    "informed_posterior": [
        (
            "The ratio of the noises is upside down.",
            """
rescaled = scores * (new / old) ** 2
return rescaled.softmax(dim=1) @ one_hot
""",
        ),
        (
            "The ratio of the noises is not squared.",
            """
return (scores * old / new).softmax(dim=1) @ one_hot
""",
        ),
        (
            "The scores are summed over a class first, the softmax comes afterwards.",
            """
rescaled = scores * (old / new) ** 2
return (rescaled @ one_hot).softmax(dim=1)
""",
        ),
        (
            "The softmax runs over the images and not over the clean digits.",
            """
rescaled = scores * (old / new) ** 2
return rescaled.softmax(dim=0) @ one_hot
""",
        ),
        (
            "The noises are ignored: it is the posterior for the old noise.",
            """
return scores.softmax(dim=1) @ one_hot
""",
        ),
        (
            "The mean over the digits of a class is taken instead of the sum.",
            """
rescaled = scores * (old / new) ** 2
return rescaled.softmax(dim=1) @ one_hot / one_hot.sum(dim=0)
""",
        ),
        (
            "Only the nearest digit of each class counts: the largest instead of the sum.",
            """
posterior = (scores * (old / new) ** 2).softmax(dim=1)
own = [one_hot[:, k] > 0 for k in range(one_hot.shape[1])]
best = torch.stack([posterior[:, member].amax(dim=1) for member in own], dim=1)
return best / best.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The exponentials of large negative scores underflow to 0, and 0 / 0 is NaN.",
            """
weights = torch.exp(scores * (old / new) ** 2)
return (weights @ one_hot) / weights.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It raises the posterior of the classes to a power, instead of rescaling the "
            "scores of the digits.",
            """
posterior = (scores.softmax(dim=1) @ one_hot) ** ((old / new) ** 2)
return posterior / posterior.sum(dim=1, keepdim=True)
""",
        ),
        (
            "A factor 1/2 of the score is applied a second time.",
            """
return (scores * old ** 2 / (2 * new ** 2)).softmax(dim=1) @ one_hot
""",
        ),
        (
            "It multiplies by old squared, but does not divide by new squared.",
            """
return (scores * old ** 2).softmax(dim=1) @ one_hot
""",
        ),
        (
            "The largest score of the whole batch is subtracted: rows that are far below it "
            "become 0 / 0.",
            """
z = scores * (old / new) ** 2
weights = torch.exp(z - z.max())
return (weights @ one_hot) / weights.sum(dim=1, keepdim=True)
""",
        ),
        (
            "It rescales the caller's `scores` in place: the result is right, the input is "
            "changed.",
            """
scores *= (old / new) ** 2
return scores.softmax(dim=1) @ one_hot
""",
        ),
    ],
    "strange_auroc": [
        (
            "Ties count nothing instead of one half.",
            """
return (familiar[:, None] > strange[None, :]).double().mean()
""",
        ),
        (
            "Ties count a whole win instead of one half.",
            """
return (familiar[:, None] >= strange[None, :]).double().mean()
""",
        ),
        (
            "The comparison is the wrong way round: it counts pairs where the strange score "
            "is larger.",
            """
won = (familiar[:, None] < strange[None, :]).double()
tied = (familiar[:, None] == strange[None, :]).double()
return (won + tied / 2).mean()
""",
        ),
        (
            "It compares the scores one to one instead of all pairs.",
            """
count = min(len(familiar), len(strange))
a, b = familiar[:count], strange[:count]
return ((a > b).double() + (a == b).double() / 2).mean()
""",
        ),
        (
            "It divides by the square of the number of familiar images, not by the number of "
            "pairs.",
            """
won = (familiar[:, None] > strange[None, :]).double().sum()
tied = (familiar[:, None] == strange[None, :]).double().sum()
return (won + tied / 2) / len(familiar) ** 2
""",
        ),
        (
            "It is the accuracy at the threshold 0.5 and not the AUROC.",
            """
right = (familiar > 0.5).sum() + (strange <= 0.5).sum()
return right.item() / (len(familiar) + len(strange))
""",
        ),
        (
            "It compares the two means alone.",
            """
return float(familiar.mean() > strange.mean())
""",
        ),
        (
            "It returns 2 AUROC - 1 (wins minus losses), the Gini coefficient.",
            """
return torch.sign(familiar[:, None] - strange[None, :]).double().mean()
""",
        ),
        (
            "The ROC curve is taken at ten thresholds between 0 and 1 only.",
            """
levels = np.linspace(1, 0, 11)
hit = [(familiar >= level).double().mean().item() for level in levels]
false = [(strange >= level).double().mean().item() for level in levels]
return float(np.trapezoid(hit, false))
""",
        ),
        (
            "The ranks start at 0, but the formula wants them from 1.",
            """
both = torch.cat([familiar, strange])
rank = (both[:, None] > both[None, :]).double().sum(1)
rank = rank + ((both[:, None] == both[None, :]).double().sum(1) - 1) / 2
n, m = len(familiar), len(strange)
return (rank[:n].sum() - n * (n + 1) / 2) / (n * m)
""",
        ),
        (
            "It returns the larger of AUROC and 1 - AUROC, so that it is never below one half.",
            """
won = (familiar[:, None] > strange[None, :]).double()
tied = (familiar[:, None] == strange[None, :]).double()
area = (won + tied / 2).mean().item()
return max(area, 1 - area)
""",
        ),
        (
            "The half for a tie is an integer division and so 0.",
            """
won = 0
for a in familiar.tolist():
    for b in strange.tolist():
        won += a > b
        won += (a == b) // 2
return won / (len(familiar) * len(strange))
""",
        ),
        (
            "The scores are rounded to half precision, so near scores become ties.",
            """
a, b = familiar.half()[:, None], strange.half()[None, :]
return ((a > b).double() + (a == b).double() / 2).mean()
""",
        ),
        (
            "It sorts the caller's scores in place: the result is right, the input is changed.",
            """
familiar.copy_(familiar.sort().values)
strange.copy_(strange.sort().values)
won = (familiar[:, None] > strange).double() + (familiar[:, None] == strange).double() / 2
return won.mean()
""",
        ),
    ],
    "lost_confidence": [
        (
            "The difference has the wrong sign: the ensemble minus the members.",
            """
return probs.mean(dim=0).amax(dim=1).mean() - probs.amax(dim=2).mean()
""",
        ),
        (
            "The average is taken over the images and not over the members.",
            """
average = probs.mean(dim=1)
return probs.amax(dim=2).mean() - average.amax(dim=1).mean()
""",
        ),
        (
            "It is the loss of entropy (mutual information) and not of confidence.",
            """
average = probs.mean(dim=0)
entropy = torch.special.entr(average).sum(dim=1).mean()
return entropy - torch.special.entr(probs).sum(dim=2).mean()
""",
        ),
        (
            "It is the standard deviation of the members' confidences, not a difference of means.",
            """
return probs.amax(dim=2).std(dim=0).mean()
""",
        ),
        (
            "It takes the most confident member of each image, not the mean of the members.",
            """
surest = probs.amax(dim=2).amax(dim=0).mean()
return surest - probs.mean(dim=0).amax(dim=1).mean()
""",
        ),
        (
            "It returns one value for each image and not their mean.",
            """
return probs.amax(dim=2).mean(dim=0) - probs.mean(dim=0).amax(dim=1)
""",
        ),
        (
            "It returns a ratio instead of a difference.",
            """
return 1 - probs.mean(dim=0).amax(dim=1).mean() / probs.amax(dim=2).mean()
""",
        ),
        (
            "It returns the sum over the images and not their mean.",
            """
return (probs.amax(dim=2).mean(dim=0) - probs.mean(dim=0).amax(dim=1)).sum()
""",
        ),
        (
            "The members are read at the class of the ensemble, which gives 0 always.",
            """
average = probs.mean(dim=0)
best = average.argmax(dim=1)
own = probs[:, torch.arange(probs.shape[1]), best]
return own.mean() - average.amax(dim=1).mean()
""",
        ),
        (
            "It compares the first member alone with the ensemble.",
            """
return probs[0].amax(dim=1).mean() - probs.mean(dim=0).amax(dim=1).mean()
""",
        ),
        (
            "The ensemble averages log-probabilities (a geometric mean), not probabilities.",
            """
average = probs.clamp(min=1e-12).log().mean(dim=0).softmax(dim=1)
return probs.amax(dim=2).mean() - average.amax(dim=1).mean()
""",
        ),
        (
            "The members' maximum is taken over the images (dim=1) and not over the classes.",
            """
return probs.amax(dim=1).mean() - probs.mean(dim=0).amax(dim=1).mean()
""",
        ),
        (
            "It returns per cent: a factor of 100.",
            """
return 100 * (probs.amax(dim=2).mean() - probs.mean(dim=0).amax(dim=1).mean())
""",
        ),
    ],
    "top_entropy": [
        (
            "It returns the rows with the lowest entropy.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
return entropy.argsort()[:round(share * len(probs))].sort().values
""",
        ),
        (
            "The indices come by entropy and not in ascending order.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
return entropy.argsort(descending=True)[:round(share * len(probs))]
""",
        ),
        (
            "The number of rows is cut off by int() instead of rounded.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
return entropy.topk(int(share * len(probs))).indices.sort().values
""",
        ),
        (
            "It returns a mask of the rows and not their indices.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
mask = torch.zeros(len(probs), dtype=torch.bool)
mask[entropy.topk(round(share * len(probs))).indices] = True
return mask
""",
        ),
        (
            "0 * log 0 is NaN: a row with an exact zero is ranked first.",
            """
entropy = -(probs * probs.log()).sum(dim=1)
return entropy.argsort(descending=True)[:round(share * len(probs))].sort().values
""",
        ),
        (
            "It ranks by the smallest confidence and not by the entropy.",
            """
confidence = probs.amax(dim=1)
return confidence.argsort()[:round(share * len(probs))].sort().values
""",
        ),
        (
            "It ranks by the margin between the two largest probabilities, not by the entropy.",
            """
two = probs.topk(2, dim=1).values
margin = two[:, 0] - two[:, 1]
return margin.argsort()[:round(share * len(probs))].sort().values
""",
        ),
        (
            "A constant of 0.01 inside the logarithm changes the order of near entropies.",
            """
entropy = -(probs * (probs + 0.01).log()).sum(dim=1)
return entropy.argsort(descending=True)[:round(share * len(probs))].sort().values
""",
        ),
        (
            "It returns the entropies themselves and not the indices.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
return entropy.sort(descending=True).values[:round(share * len(probs))]
""",
        ),
        (
            "The entropy is summed over the rows (dim=0), so it ranks classes.",
            """
entropy = torch.special.entr(probs).sum(dim=0)
return entropy.argsort(descending=True)[:round(share * len(probs))].sort().values
""",
        ),
        (
            "It keeps the rows whose entropy is above that share of the largest entropy, "
            "whatever their number.",
            """
entropy = torch.special.entr(probs).sum(dim=1)
return torch.nonzero(entropy >= (1 - share) * entropy.max())[:, 0]
""",
        ),
        (
            "It sums the squares of p log p: not the entropy.",
            """
entropy = (torch.special.entr(probs) ** 2).sum(dim=1)
return entropy.argsort(descending=True)[:round(share * len(probs))].sort().values
""",
        ),
        (
            "The entropies are rounded to two decimals, so near ones are in a random order.",
            """
entropy = torch.special.entr(probs).sum(dim=1).mul(100).round()
return entropy.argsort(descending=True)[:round(share * len(probs))].sort().values
""",
        ),
        (
            "It takes the last `count` of the ascending order with [-count:], which is "
            "everything for 0.",
            """
order = torch.special.entr(probs).sum(dim=1).argsort()
return order[-round(share * len(probs)):].sort().values
""",
        ),
    ],
    "chosen_gap": [
        (
            "The sign is turned round: accuracy minus confidence.",
            """
confidence, predicted = posterior[chosen].max(dim=1)
return (predicted == labels[chosen]).double().mean() - confidence.mean()
""",
        ),
        (
            "It ignores the choice and takes all images.",
            """
confidence, predicted = posterior.max(dim=1)
return confidence.mean() - (predicted == labels).double().mean()
""",
        ),
        (
            "The labels are not chosen: the first labels stand beside the chosen rows.",
            """
confidence, predicted = posterior[chosen].max(dim=1)
return confidence.mean() - (predicted == labels[:len(chosen)]).double().mean()
""",
        ),
        (
            "The absolute value hides the sign.",
            """
confidence, predicted = posterior[chosen].max(dim=1)
return (confidence.mean() - (predicted == labels[chosen]).double().mean()).abs()
""",
        ),
        (
            "It takes the images that were not chosen.",
            """
rest = torch.ones(len(labels), dtype=torch.bool)
rest[chosen] = False
confidence, predicted = posterior[rest].max(dim=1)
return confidence.mean() - (predicted == labels[rest]).double().mean()
""",
        ),
        (
            "It takes the probability of the label and not the largest one as the confidence.",
            """
rows, own = posterior[chosen], labels[chosen]
confidence = rows.gather(1, own[:, None])[:, 0]
return confidence.mean() - (rows.argmax(dim=1) == own).double().mean()
""",
        ),
        (
            "It subtracts the mean probability of the labels instead of the share that is right.",
            """
rows, own = posterior[chosen], labels[chosen]
return rows.amax(dim=1).mean() - rows[torch.arange(len(own)), own].mean()
""",
        ),
        (
            "It returns the binned ECE and not the signed gap.",
            """
return metrics.ece(posterior[chosen], labels[chosen])
""",
        ),
        (
            "The hits are divided by the number of all images, not of the chosen.",
            """
confidence, predicted = posterior[chosen].max(dim=1)
right = (predicted == labels[chosen]).sum().item()
return confidence.mean().item() - right / len(labels)
""",
        ),
        (
            "The confidence is that of the chosen, the accuracy that of all images.",
            """
right = posterior.argmax(dim=1) == labels
return posterior[chosen].amax(dim=1).mean() - right.double().mean()
""",
        ),
        (
            "It takes the list of indices for a mask: every image with a number other than 0 "
            "in it.",
            """
mask = torch.zeros(len(labels), dtype=torch.bool)
mask[:len(chosen)] = chosen.bool()
confidence, predicted = posterior[mask].max(dim=1)
return confidence.mean() - (predicted == labels[mask]).double().mean()
""",
        ),
        (
            "It computes the confidence in half precision, which loses all but three digits.",
            """
confidence, predicted = posterior[chosen].max(dim=1)
return confidence.half().mean().item() - (predicted == labels[chosen]).double().mean().item()
""",
        ),
    ],
    "selection_cost": [
        (
            "The cost of scoring is forgotten.",
            """
return (warmup + (epochs - warmup) * share) / epochs
""",
        ),
        (
            "Scoring is paid for the chosen images alone; all images are scored.",
            """
return (warmup + (epochs - warmup) * share * (1 + scoring)) / epochs
""",
        ),
        (
            "The cost is not divided by the number of epochs.",
            """
return warmup + (epochs - warmup) * (share + scoring)
""",
        ),
        (
            "The warm-up epochs pay for scoring, too.",
            """
return (warmup + (epochs - warmup) * share + epochs * scoring) / epochs
""",
        ),
        (
            "One later epoch too few is counted.",
            """
return (warmup + (epochs - warmup - 1) * (share + scoring)) / epochs
""",
        ),
        (
            "It divides by the number of later epochs and not of all.",
            """
return (warmup + (epochs - warmup) * (share + scoring)) / (epochs - warmup)
""",
        ),
        (
            "Scoring is paid once and not in each later epoch.",
            """
return (warmup + (epochs - warmup) * share + scoring) / epochs
""",
        ),
        (
            "It returns what is saved: 1 minus the cost.",
            """
return 1 - (warmup + (epochs - warmup) * (share + scoring)) / epochs
""",
        ),
        (
            "An integer division cuts the cost to a whole number.",
            """
return (warmup + (epochs - warmup) * (share + scoring)) // epochs
""",
        ),
        (
            "The warm-up is ignored: every epoch trains on a share.",
            """
return share + scoring
""",
        ),
        (
            "Only the images that are not chosen are scored.",
            """
return (warmup + (epochs - warmup) * (share + scoring * (1 - share))) / epochs
""",
        ),
        (
            "The warm-up epochs count the share instead of all images.",
            """
return (warmup * share + (epochs - warmup) * (share + scoring)) / epochs
""",
        ),
        (
            "Only the later epochs count: the warm-up costs nothing.",
            """
return (epochs - warmup) * (share + scoring) / epochs
""",
        ),
    ],
    "note_probability": [
        (
            "The matrix of the moves is transposed: it goes from the later topic to the earlier.",
            """
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (moves @ forward) * says[:, word]
return forward.sum()
""",
        ),
        (
            "The start is forgotten: every first topic has the probability 1.",
            """
forward = says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "It takes the most probable path (Viterbi) and not the sum over all paths.",
            """
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward[:, None] * moves).amax(dim=0) * says[:, word]
return forward.max()
""",
        ),
        (
            "It returns the vector of the topics and does not add it up.",
            """
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward
""",
        ),
        (
            "It returns the logarithm of the probability.",
            """
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum().log()
""",
        ),
        (
            "A move is made before the first word.",
            """
forward = start
for word in words:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "The first word is counted twice: the loop starts at it again.",
            """
forward = start * says[:, words[0]]
for word in words:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "The words are taken as independent: the topic before plays no part.",
            """
likely, topic = 1.0, start
for word in words:
    likely = likely * (topic * says[:, word]).sum()
    topic = topic @ moves
return likely
""",
        ),
        (
            "The last word is left out.",
            """
forward = start * says[:, words[0]]
for word in words[1:-1]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "The start is taken as uniform and the argument ignored.",
            """
forward = torch.full_like(start, 1 / len(start)) * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "Each step is normalised, so the result is always 1.",
            """
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
    forward = forward / forward.sum()
return forward.sum()
""",
        ),
        (
            "The note is read backwards.",
            """
words = words.flip(0)
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "It computes in float32: the probability of a long note underflows to 0.",
            """
start, moves, says = start.float(), moves.float(), says.float()
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
        (
            "It takes the word 0 for padding and leaves it out.",
            """
words = words[words != 0]
forward = start * says[:, words[0]]
for word in words[1:]:
    forward = (forward @ moves) * says[:, word]
return forward.sum()
""",
        ),
    ],
    "masked_mean": [
        (
            "It divides by the length with the padding and not by the number of words.",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).mean(dim=1)
""",
        ),
        (
            "It is the plain mean over all places: the padding is counted.",
            """
return vectors.mean(dim=1)
""",
        ),
        (
            "It finds the words by vectors that are not zero; the padding's vectors need not "
            "be zero.",
            """
mask = (vectors.abs().sum(dim=2, keepdim=True) > 0).to(vectors.dtype)
return (vectors * mask).sum(dim=1) / mask.sum(dim=1)
""",
        ),
        (
            "It divides by the number of words of the whole batch.",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1) / mask.sum()
""",
        ),
        (
            "An axis of length 1 is left: (n, 1, D).",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1, keepdim=True) / mask.sum(dim=1, keepdim=True)
""",
        ),
        (
            "The mask is turned round: it is the mean over the padding.",
            """
mask = (texts == 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
""",
        ),
        (
            "The sum over the words is not divided.",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1)
""",
        ),
        (
            "1 is added to the number of words against a division by zero.",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1) / (mask.sum(dim=1) + 1)
""",
        ),
        (
            "It sets the padding of the caller's `vectors` to zero: the result is right, the "
            "input is changed.",
            """
vectors[texts == 0] = 0
return vectors.sum(dim=1) / (texts != 0).sum(dim=1, keepdim=True)
""",
        ),
        (
            "It takes the largest value over the words and not the mean.",
            """
hidden = (texts == 0).unsqueeze(2)
return vectors.masked_fill(hidden, -math.inf).amax(dim=1)
""",
        ),
        (
            "The word with number 1 is taken for padding, too.",
            """
mask = (texts > 1).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
""",
        ),
        (
            "It divides by the square root of the number of words.",
            """
mask = (texts != 0).to(vectors.dtype).unsqueeze(2)
return (vectors * mask).sum(dim=1) / mask.sum(dim=1).sqrt()
""",
        ),
        (
            "It computes in half precision, which loses all but three digits.",
            """
mask = (texts != 0).unsqueeze(2)
return ((vectors.half() * mask).sum(dim=1) / mask.sum(dim=1)).to(vectors.dtype)
""",
        ),
        (
            "It returns the mean over all words of the batch: one vector for all texts.",
            """
return vectors[texts != 0].mean(dim=0).expand(len(texts), -1)
""",
        ),
    ],
    "next_law": [
        (
            "It counts the translations and does not add up their probabilities.",
            """
fits = (translations[:, :len(prefix)] == prefix).all(dim=1)
law = torch.bincount(translations[fits, len(prefix)], minlength=words).double()
return law / law.sum()
""",
        ),
        (
            "It does not divide by the total of the translations that begin with the prefix.",
            """
fits = (translations[:, :len(prefix)] == prefix).all(dim=1)
law = torch.zeros(words, dtype=torch.float64)
return law.index_add(0, translations[fits, len(prefix)], probs[fits])
""",
        ),
        (
            "It reads the last column of the prefix and not the one after it.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).all(dim=1)
law = torch.bincount(translations[fits, t - 1], weights=probs[fits], minlength=words)
return law / law.sum()
""",
        ),
        (
            "It reads one column too far: the second token after the prefix.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).all(dim=1)
column = min(t + 1, translations.shape[1] - 1)
law = torch.bincount(translations[fits, column], weights=probs[fits], minlength=words)
return law / law.sum()
""",
        ),
        (
            "Only the last token of the prefix must fit, not the whole prefix.",
            """
t = len(prefix)
fits = translations[:, t - 1] == prefix[-1] if t else torch.ones(len(probs), dtype=torch.bool)
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return law / law.sum()
""",
        ),
        (
            "A row fits if any token of the prefix is at its place, not all of them.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).any(dim=1) | torch.tensor(t == 0)
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return law / law.sum()
""",
        ),
        (
            "Of several translations with the same next word only the last is kept: nothing "
            "is added up.",
            """
t = len(prefix)
law = torch.zeros(words, dtype=torch.float64)
for row, p in zip(translations, probs, strict=True):
    if row[:t].tolist() == prefix.tolist():
        law[row[t]] = p
return law / law.sum()
""",
        ),
        (
            "A softmax stands in place of the division by the total.",
            """
fits = (translations[:, :len(prefix)] == prefix).all(dim=1)
law = torch.bincount(translations[fits, len(prefix)], weights=probs[fits], minlength=words)
return law.softmax(dim=0)
""",
        ),
        (
            "The empty prefix is not handled: prefix[-1] of nothing raises an IndexError.",
            """
t = len(prefix)
last = prefix[-1]
fits = (translations[:, :t] == prefix).all(dim=1) & (translations[:, t - 1] == last)
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return law / law.sum()
""",
        ),
        (
            "The length is that of the largest token that occurs, not `words`.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).all(dim=1)
law = torch.bincount(translations[fits, t], weights=probs[fits])
return law / law.sum()
""",
        ),
        (
            "It returns 1 for the most probable next word and 0 for the others.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).all(dim=1)
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return F.one_hot(law.argmax(), words).double()
""",
        ),
        (
            "All possible next words get the same probability.",
            """
t = len(prefix)
fits = (translations[:, :t] == prefix).all(dim=1)
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return (law > 0).double() / (law > 0).sum()
""",
        ),
        (
            "The prefix is looked for anywhere in a translation, not at its beginning.",
            """
t = len(prefix)
law = torch.zeros(words, dtype=torch.float64)
for row, p in zip(translations.tolist(), probs.tolist(), strict=True):
    for i in range(len(row) - t):
        if row[i:i + t] == prefix.tolist():
            law[row[i + t]] += p
            break
return law / law.sum()
""",
        ),
    ],
    "masked_gap": [
        (
            "The padding is counted as predictions.",
            """
confidence, predicted = probs.max(dim=2)
return confidence.mean() - (predicted == labels).double().mean()
""",
        ),
        (
            "The padding is set to 0, but the sums are divided by all places.",
            """
real = (labels != 0).double()
confidence, predicted = probs.max(dim=2)
return ((confidence - (predicted == labels).double()) * real).mean()
""",
        ),
        (
            "Only the accuracy leaves out the padding; the confidence is that of all places.",
            """
real = labels != 0
confidence, predicted = probs.max(dim=2)
return confidence.mean() - (predicted == labels)[real].double().mean()
""",
        ),
        (
            "It takes the mean over the sentences of each one's gap, so short sentences weigh "
            "as much as long ones.",
            """
gaps = []
for rows, own in zip(probs, labels, strict=True):
    real = own != 0
    confidence, predicted = rows[real].max(dim=1)
    gaps.append(confidence.mean() - (predicted == own[real]).double().mean())
return torch.stack(gaps).mean()
""",
        ),
        (
            "The sign is turned round: accuracy minus confidence.",
            """
real = labels != 0
confidence, predicted = probs[real].max(dim=1)
return (predicted == labels[real]).double().mean() - confidence.mean()
""",
        ),
        (
            "It leaves out places where 0 is predicted, not places where 0 is the label.",
            """
confidence, predicted = probs.max(dim=2)
real = predicted != 0
return confidence[real].mean() - (predicted == labels)[real].double().mean()
""",
        ),
        (
            "The absolute value hides the sign.",
            """
real = labels != 0
confidence, predicted = probs[real].max(dim=1)
return (confidence.mean() - (predicted == labels[real]).double().mean()).abs()
""",
        ),
        (
            "The column of the padding is cut from the probabilities, too, so a prediction of "
            "0 is not seen.",
            """
real = labels != 0
confidence, predicted = probs[real][:, 1:].max(dim=1)
return confidence.mean() - (predicted + 1 == labels[real]).double().mean()
""",
        ),
        (
            "It takes the probability of the label and not the largest one as the confidence.",
            """
real = labels != 0
rows, own = probs[real], labels[real]
confidence = rows.gather(1, own[:, None])[:, 0]
return confidence.mean() - (rows.argmax(dim=1) == own).double().mean()
""",
        ),
        (
            "It returns the binned ECE of the real tokens and not the signed gap.",
            """
real = labels != 0
return metrics.ece(probs[real], labels[real])
""",
        ),
        (
            "It returns the sum over the tokens and not the mean.",
            """
real = labels != 0
confidence, predicted = probs[real].max(dim=1)
return (confidence - (predicted == labels[real]).double()).sum()
""",
        ),
        (
            "It writes -1 over the padding of the caller's `labels`: the result is right, the "
            "input is changed.",
            """
labels[labels == 0] = -1
real = labels >= 0
confidence, predicted = probs[real].max(dim=1)
return confidence.mean() - (predicted == labels[real]).double().mean()
""",
        ),
        (
            "It takes the first sentence alone.",
            """
real = labels[0] != 0
confidence, predicted = probs[0][real].max(dim=1)
return confidence.mean() - (predicted == labels[0][real]).double().mean()
""",
        ),
    ],
    "avoidable_brier": [
        (
            "It takes the mean over the classes instead of their sum, so it is K times too small.",
            """
return (probs - posterior).square().mean().item()
""",
        ),
        (
            "The differences are not squared: it is the mean of the absolute values.",
            """
return (probs - posterior).abs().sum(dim=1).mean().item()
""",
        ),
        (
            "The square root of the sum over the classes is taken: a distance and not its square.",
            """
return (probs - posterior).square().sum(dim=1).sqrt().mean().item()
""",
        ),
        (
            "It returns the whole expected Brier score, with the part that cannot be avoided.",
            """
own = posterior * (1 - posterior)
return ((probs - posterior).square() + own).sum(dim=1).mean().item()
""",
        ),
        (
            "It is the difference of the squares and not the square of the difference.",
            """
return (probs.square() - posterior.square()).sum(dim=1).mean().item()
""",
        ),
        (
            "It returns the sum over the images and not the mean.",
            """
return (probs - posterior).square().sum().item()
""",
        ),
        (
            "It is divided by 2, as for a Brier score of two classes.",
            """
return (probs - posterior).square().sum(dim=1).mean().item() / 2
""",
        ),
        (
            "It is the Kullback-Leibler divergence: the avoidable part of the NLL.",
            """
ratio = posterior.clamp(min=1e-12) / probs.clamp(min=1e-12)
return (posterior * ratio.log()).sum(dim=1).mean().item()
""",
        ),
        (
            "It compares the most probable class alone.",
            """
return (probs.amax(dim=1) - posterior.amax(dim=1)).square().mean().item()
""",
        ),
        (
            "It takes the mean over the images before the square.",
            """
return (probs.mean(dim=0) - posterior.mean(dim=0)).square().sum().item()
""",
        ),
        (
            "It takes the most probable class of the posterior for the label.",
            """
label = F.one_hot(posterior.argmax(dim=1), posterior.shape[1])
own = (probs - label).square().sum(dim=1).mean()
return (own - (posterior - label).square().sum(dim=1).mean()).item()
""",
        ),
        (
            "It returns one value for each image and not their mean.",
            """
return (probs - posterior).square().sum(dim=1)
""",
        ),
        (
            "The mean over all entries is multiplied by 10: right for K = 10 alone.",
            """
return 10 * (probs - posterior).square().mean().item()
""",
        ),
        (
            "It computes in half precision, which loses all but three digits.",
            """
return (probs.half() - posterior.half()).square().sum(dim=1).mean().item()
""",
        ),
    ],
}

RIGHT = {
    "early_stop": [
        (
            "numpy: a running minimum over the whole list",
            """
values = np.asarray([float(one) for one in losses])
lowest = np.minimum.accumulate(values)
fresh = np.r_[True, values[1:] < lowest[:-1]]
kept = np.maximum.accumulate(np.where(fresh, np.arange(len(values)), 0))
waits = np.flatnonzero(np.arange(len(values)) - kept >= patience)
last = int(waits[0]) if len(waits) else len(values) - 1
return int(kept[last]), last
""",
        ),
        (
            "for each epoch anew: the place of the lowest value so far",
            """
for last in range(len(losses)):
    so_far = [float(one) for one in losses[:last + 1]]
    kept = so_far.index(min(so_far))
    if last - kept == patience:
        return [kept, last]
return [kept, last]
""",
        ),
        (
            "a while loop and a counter that is set back",
            """
best, kept, waited, epoch = math.inf, 0, 0, -1
while waited < patience and epoch + 1 < len(losses):
    epoch += 1
    value = float(losses[epoch])
    waited = 0 if value < best else waited + 1
    if value < best:
        best, kept = value, epoch
return kept, epoch
""",
        ),
        (
            "pandas: cummin and a count of repeats; numpy integers",
            """
series = pd.Series([float(one) for one in losses])
kept = series.expanding().apply(lambda part: part.to_numpy().argmin()).astype(int)
wait = np.arange(len(series)) - kept.to_numpy()
last = np.argmax(wait == patience) if (wait == patience).any() else len(series) - 1
return np.int64(kept.iloc[last]), np.int64(last)
""",
        ),
    ],
    "nll_parts": [
        (
            "a loop over the predictions in plain Python",
            """
right = wrong = 0.0
for row, label in zip(probs.tolist(), labels.tolist(), strict=True):
    if row.index(max(row)) == label:
        right -= math.log(row[label])
    else:
        wrong -= math.log(row[label])
return right / len(labels), wrong / len(labels)
""",
        ),
        (
            "numpy, with the mean of masked losses",
            """
p, y = np.asarray(probs, dtype=np.float64), np.asarray(labels)
loss = -np.log(p[np.arange(len(y)), y])
hit = p.argmax(1) == y
return np.where(hit, loss, 0).mean(), np.where(hit, 0, loss).mean()
""",
        ),
        (
            "the whole NLL from nll_loss minus the part of the right ones; a tensor of two",
            """
loss = F.nll_loss(probs.double().log(), labels, reduction="none")
right = (loss * (probs.argmax(1) == labels)).sum() / len(labels)
return torch.stack([right, loss.mean() - right])
""",
        ),
    ],
    "patch_tokens": [
        (
            "loops over the corners of the patches",
            """
n, height, width = images.shape
tokens = [images[:, top:top + patch, left:left + patch].reshape(n, -1)
          for top in range(0, height, patch) for left in range(0, width, patch)]
return torch.stack(tokens, dim=1)
""",
        ),
        (
            "two windows that do not overlap",
            """
windows = images.unfold(1, patch, patch).unfold(2, patch, patch)
return windows.flatten(3).flatten(1, 2)
""",
        ),
        (
            "numpy with einsum",
            """
pixels = images.numpy()
n, height, width = pixels.shape
grid = pixels.reshape(n, height // patch, patch, width // patch, patch)
grid = np.einsum("nrpcq->nrcpq", grid)
return torch.from_numpy(grid.reshape(n, -1, patch * patch).copy())
""",
        ),
        (
            "an index of pixels that is cut like an image",
            """
n, height, width = images.shape
place = torch.arange(height * width).reshape(height, width)
rows = torch.cat([torch.stack([one.flatten() for one in band.split(patch, dim=1)])
                  for band in place.split(patch, dim=0)])
return images.flatten(1)[:, rows]
""",
        ),
    ],
    "attention": [
        (
            "PyTorch's own function",
            """
return F.scaled_dot_product_attention(queries[None], keys[None], values[None])[0]
""",
        ),
        (
            "a loop over the tokens in numpy",
            """
q, k, v = (np.asarray(one, dtype=np.float64) for one in (queries, keys, values))
out = np.zeros((len(q), v.shape[1]))
for i, query in enumerate(q):
    score = k @ query / np.sqrt(k.shape[1])
    share = np.exp(score - score.max())
    out[i] = share @ v / share.sum()
return torch.as_tensor(out, dtype=values.dtype)
""",
        ),
        (
            "einsum, with the scaling on queries and keys before the product",
            """
scale = keys.shape[-1] ** -0.25
scores = torch.einsum("id,jd->ij", queries * scale, keys * scale)
return torch.einsum("ij,jd->id", scores.softmax(-1), values)
""",
        ),
        (
            "logsumexp in place of the softmax",
            """
scores = torch.matmul(queries, keys.t()).div(math.sqrt(queries.size(1)))
return (scores - scores.logsumexp(1, keepdim=True)).exp().mm(values)
""",
        ),
    ],
    "class_errors": [
        (
            "the package's errors by group, then put in order",
            """
errors = metrics.ece_by_group(probs, labels)
return [errors[int(k)] for k in order]
""",
        ),
        (
            "a tensor of the errors, by index_select",
            """
found = []
for k in torch.as_tensor(order).tolist():
    rows = torch.nonzero(labels == k).flatten()
    found.append(metrics.ece(probs.index_select(0, rows), labels.index_select(0, rows)))
return torch.tensor(found, dtype=torch.float64)
""",
        ),
        (
            "pandas: groupby on the labels",
            """
confidence, predicted = (one.numpy() for one in probs.double().max(dim=1))
table = pd.DataFrame({"sure": confidence, "hit": predicted == labels.numpy(), "y": labels.numpy()})
table["bin"] = np.clip(np.ceil(table.sure * 15) - 1, 0, 14)
def error(part):
    off = part.groupby("bin").apply(lambda one: abs((one.sure - one.hit).sum()))
    return off.sum() / len(part)
return [error(table[table.y == int(k)]) for k in order]
""",
        ),
    ],
    "other_prior": [
        (
            "the logarithm: a softmax of shifted log-probabilities",
            """
return (probs.log() + new.log() - old.log()).softmax(dim=1)
""",
        ),
        (
            "numpy, row by row",
            """
rows = []
for row in probs.numpy():
    weighted = row * (new.numpy() / old.numpy())
    rows.append(weighted / weighted.sum())
return torch.from_numpy(np.stack(rows))
""",
        ),
        (
            "einsum and normalize with p = 1",
            """
return F.normalize(torch.einsum("nk,k->nk", probs, new / old), p=1, dim=1)
""",
        ),
        (
            "a diagonal matrix",
            """
weighted = probs @ torch.diag(new / old)
return weighted / (weighted @ torch.ones_like(new))[:, None]
""",
        ),
    ],
    "selective_risk": [
        (
            "topk and the mean of the misses",
            """
count = round(coverage * len(confidence))
return (~correct.bool())[confidence.topk(count).indices].double().mean().item()
""",
        ),
        (
            "numpy: sorted by minus the confidence",
            """
order = np.argsort(-confidence.numpy(), kind="stable")
count = int(np.rint(coverage * len(order)))
return 1 - np.asarray(correct)[order][:count].mean()
""",
        ),
        (
            "a loop over pairs in plain Python",
            """
pairs = sorted(zip(confidence.tolist(), correct.tolist(), strict=True), key=lambda pair: -pair[0])
kept = pairs[:round(coverage * len(pairs))]
return sum(not hit for _, hit in kept) / len(kept)
""",
        ),
        (
            "pandas: nlargest",
            """
table = pd.DataFrame({"sure": confidence.numpy(), "hit": correct.numpy().astype(bool)})
return 1 - table.nlargest(round(coverage * len(table)), "sure").hit.mean()
""",
        ),
    ],
    "penalty_posterior": [
        (
            "p plus weight times p times the distance of log p from its mean",
            """
logs = p.log()
mean = (p * logs).sum(1, keepdim=True)
return p + weight * p * (logs - mean)
""",
        ),
        (
            "c from the sum, as the exercise says, in numpy",
            """
a = p.numpy()
logs = np.log(a)
c = (1 - weight * (a * logs).sum(1)) / a.sum(1)
return torch.from_numpy(a * (c[:, None] + weight * logs))
""",
        ),
        (
            "a loop over the rows",
            """
rows = []
for row in p:
    entropy = torch.distributions.Categorical(probs=row).entropy()
    rows.append(row * (1 + weight * (entropy + torch.log(row))))
return torch.stack(rows)
""",
        ),
    ],
    "gamma_star": [
        (
            "brentq on the logarithm of the gradient ratio",
            """
from scipy.optimize import brentq
s = -p0 * math.log(p0) / (1 - p0)
def off(gamma):
    return gamma * math.log1p(-p0) + math.log1p(gamma * s)
top = 1.0
while off(top) > 0:
    top *= 2
low = top
while off(low) <= 0:
    low /= 2
return brentq(off, low, top, xtol=1e-14)
""",
        ),
        (
            "numpy throughout; a numpy number",
            """
from scipy.special import lambertw
s = -p0 * np.log(p0) / (1 - p0)
r = -np.log1p(-p0) / s
return (np.real(lambertw(-r * np.exp(-r), k=-1)) / -r - 1) / s
""",
        ),
        (
            "a fixed point of v = 1 + log(v) / r",
            """
s = -p0 * math.log(p0) / (1 - p0)
r = -math.log(1 - p0) / s
v = 1e6
for _ in range(200000):
    after = 1 + math.log(v) / r
    if abs(after - v) < 1e-15 * v:
        break
    v = after
return (v - 1) / s
""",
        ),
    ],
    "sample_gamma": [
        (
            "bucketize with the edges on the right side",
            """
edges = torch.tensor([0.2, 0.5], dtype=p.dtype)
return torch.tensor([5.0, 3.0, 2.0], dtype=p.dtype)[torch.bucketize(p, edges, right=True)]
""",
        ),
        (
            "a loop over the entries",
            """
values = [5.0 if one < 0.2 else 3.0 if one < 0.5 else 2.0 for one in p.flatten()]
return torch.tensor(values, dtype=p.dtype).reshape(p.shape)
""",
        ),
        (
            "numpy's select",
            """
a = p.numpy()
limits = [a < np.asarray(0.2, a.dtype), a < 0.5]
return torch.as_tensor(np.select(limits, [5.0, 3.0], 2.0), dtype=p.dtype)
""",
        ),
        (
            "masks that are filled in the right order",
            """
return torch.full_like(p, 2).masked_fill(p < 0.5, 3).masked_fill(p < 0.2, 5)
""",
        ),
    ],
    "ensemble_probs": [
        (
            "a loop over the networks",
            """
total = 0
for one in logits:
    total = total + F.softmax(one, dim=-1)
return total / len(logits)
""",
        ),
        (
            "logsumexp of log-probabilities",
            """
return (logits.log_softmax(-1).logsumexp(0) - math.log(logits.shape[0])).exp()
""",
        ),
        (
            "numpy with scipy's softmax",
            """
from scipy.special import softmax
return torch.from_numpy(softmax(logits.double().numpy(), axis=2).mean(axis=0))
""",
        ),
        (
            "einsum with equal weights",
            """
share = torch.full((logits.shape[0],), 1 / logits.shape[0], dtype=logits.dtype)
return torch.einsum("r,rnk->nk", share, logits.softmax(-1))
""",
        ),
    ],
    "informed_posterior": [
        (
            "logsumexp over the members of each class",
            """
z = scores.double() * (old / new) ** 2
parts = [z[:, one_hot[:, k] > 0].logsumexp(dim=1) for k in range(one_hot.shape[1])]
return torch.stack(parts, dim=1).softmax(dim=1)
""",
        ),
        (
            "index_add by the class of each digit",
            """
share = (scores * (old * old) / (new * new)).softmax(1)
out = torch.zeros(len(scores), one_hot.shape[1], dtype=share.dtype)
return out.index_add(1, one_hot.argmax(dim=1), share)
""",
        ),
        (
            "back to the squared distances, and the largest weight set to 1",
            """
squared = -2 * old ** 2 * scores.double()
nearest = squared.amin(1, keepdim=True)
weight = torch.exp(-(squared - nearest) / (2 * new ** 2))
return weight @ one_hot.double() / weight.sum(1, keepdim=True)
""",
        ),
    ],
    "strange_auroc": [
        (
            "the mean rank (Mann-Whitney), by scipy's rankdata",
            """
from scipy.stats import rankdata
n, m = len(familiar), len(strange)
rank = rankdata(np.concatenate([familiar.numpy(), strange.numpy()]))
return (rank[:n].sum() - n * (n + 1) / 2) / (n * m)
""",
        ),
        (
            "searchsorted on both sides",
            """
ordered = np.sort(strange.numpy())
below = np.searchsorted(ordered, familiar.numpy(), side="left")
up_to = np.searchsorted(ordered, familiar.numpy(), side="right")
return float((below + up_to).mean() / 2 / len(ordered))
""",
        ),
        (
            "two loops and the sign of the difference",
            """
total = 0.0
for a in familiar.tolist():
    for b in strange.tolist():
        total += (1 + (a > b) - (a < b)) / 2
return total / len(familiar) / len(strange)
""",
        ),
        (
            "heaviside with one half at 0",
            """
half = torch.tensor(0.5, dtype=familiar.dtype)
return torch.heaviside(familiar[:, None] - strange, half).mean()
""",
        ),
    ],
    "lost_confidence": [
        (
            "a loop over the images",
            """
members, images, _ = probs.shape
total = 0.0
for i in range(images):
    alone = sum(float(probs[r, i].max()) for r in range(members)) / members
    total += alone - float(probs[:, i].mean(dim=0).max())
return total / images
""",
        ),
        (
            "numpy, with an absolute value that changes nothing",
            """
a = np.asarray(probs, dtype=np.float64)
return np.abs(a.max(axis=-1).mean() - a.mean(axis=0).max(axis=-1).mean())
""",
        ),
        (
            "einsum for the average, topk for the confidences",
            """
R = probs.shape[0]
average = torch.einsum("rnk->nk", probs) / R
return (probs.topk(1, dim=2).values.squeeze(2) - average.topk(1, dim=1).values.T).mean().item()
""",
        ),
    ],
    "top_entropy": [
        (
            "topk and sort",
            """
entropy = torch.special.entr(probs.double()).sum(1)
return entropy.topk(round(share * len(probs))).indices.sort().values
""",
        ),
        (
            "numpy with where, in bits",
            """
p = probs.double().numpy()
bits = -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=1)
chosen = np.argsort(-bits, kind="stable")[:round(share * len(p))]
return torch.from_numpy(np.sort(chosen))
""",
        ),
        (
            "by the divergence from the uniform law, smallest first",
            """
K = probs.shape[1]
away = torch.special.xlogy(probs, probs * K).sum(dim=1)
return torch.sort(away.argsort()[:round(share * len(probs))]).values
""",
        ),
        (
            "a mask and nonzero",
            """
entropy = torch.distributions.Categorical(probs=probs.double(), validate_args=False).entropy()
mask = torch.zeros(len(probs), dtype=torch.bool)
mask[entropy.argsort(descending=True)[:round(share * len(probs))]] = True
return mask.nonzero().squeeze(1)
""",
        ),
    ],
    "chosen_gap": [
        (
            "the package's function on the chosen rows",
            """
return metrics.signed_gap(posterior[chosen], labels[chosen])
""",
        ),
        (
            "a loop in plain Python",
            """
total = 0.0
for i in chosen.tolist():
    row = posterior[i].tolist()
    total += max(row) - (row.index(max(row)) == int(labels[i]))
return total / len(chosen)
""",
        ),
        (
            "numpy: the mean of the differences",
            """
p, y, c = posterior.numpy(), labels.numpy(), chosen.numpy()
return np.mean(p[c].max(1) - (p[c].argmax(1) == y[c]))
""",
        ),
    ],
    "selection_cost": [
        (
            "a loop over the epochs",
            """
total = 0
for epoch in range(epochs):
    total += 1 if epoch < warmup else share + scoring
return total / epochs
""",
        ),
        (
            "a weighted mean",
            """
late = 1 - warmup / epochs
return 1 + late * (share + scoring - 1)
""",
        ),
        (
            "numpy's average",
            """
return float(np.average([1.0, share + scoring], weights=[warmup, epochs - warmup]))
""",
        ),
        (
            "a tensor of all epochs",
            """
cost = torch.full((epochs,), share + scoring, dtype=torch.float64)
cost[:warmup] = 1
return cost.mean()
""",
        ),
    ],
    "note_probability": [
        (
            "backwards: the beta recursion",
            """
behind = torch.ones_like(start)
for word in words.flip(0)[:-1]:
    behind = moves @ (says[:, word] * behind)
return (start * says[:, words[0]] * behind).sum()
""",
        ),
        (
            "in logarithms, and the exponential at the end",
            """
log = (start.double() * says[:, words[0]].double()).log()
for word in words[1:]:
    log = (log[:, None] + moves.double().log()).logsumexp(0) + says[:, word].double().log()
return log.logsumexp(0).exp()
""",
        ),
        (
            "a product of matrices in numpy",
            """
s, m, e = start.numpy(), moves.numpy(), says.numpy()
first, *rest = [int(word) for word in words]
row = s @ np.diag(e[:, first])
for word in rest:
    row = row @ m @ np.diag(e[:, word])
return row.sum()
""",
        ),
        (
            "plain Python with two loops over the topics",
            """
H = len(start)
forward = [float(start[h]) * float(says[h, words[0]]) for h in range(H)]
for word in words[1:]:
    forward = [sum(forward[g] * float(moves[g, h]) for g in range(H)) * float(says[h, word])
               for h in range(H)]
return sum(forward)
""",
        ),
    ],
    "masked_mean": [
        (
            "a loop over the texts",
            """
return torch.stack([rows[text != 0].mean(dim=0) for rows, text in zip(vectors, texts, strict=True)])
""",
        ),
        (
            "einsum with weights that sum to 1",
            """
weight = (texts != 0).to(vectors.dtype)
weight = weight / weight.sum(1, keepdim=True)
return torch.einsum("nl,nld->nd", weight, vectors)
""",
        ),
        (
            "a product of batches",
            """
mask = (texts > 0).to(vectors.dtype)
return torch.bmm(mask.unsqueeze(1), vectors).squeeze(1) / mask.sum(1, keepdim=True)
""",
        ),
        (
            "numpy's masked array",
            """
hidden = np.broadcast_to((texts == 0).numpy()[:, :, None], tuple(vectors.shape))
mean = np.ma.masked_array(vectors.numpy(), hidden).mean(axis=1)
return torch.from_numpy(np.asarray(mean.filled(0)))
""",
        ),
    ],
    "next_law": [
        (
            "a loop over the translations",
            """
t = len(prefix)
law = [0.0] * words
for row, p in zip(translations.tolist(), probs.tolist(), strict=True):
    if row[:t] == prefix.tolist():
        law[row[t]] += p
total = sum(law)
return torch.tensor([one / total for one in law], dtype=torch.float64)
""",
        ),
        (
            "bincount with weights",
            """
t = len(prefix)
fits = (translations[:, :t] != prefix).sum(1) == 0
law = torch.bincount(translations[fits, t], weights=probs[fits], minlength=words)
return law / probs[fits].sum()
""",
        ),
        (
            "pandas: groupby on the next word",
            """
t = len(prefix)
table = pd.DataFrame({"next": translations[:, t].numpy(), "p": probs.numpy()})
fits = np.all(translations[:, :t].numpy() == prefix.numpy(), axis=1)
law = table[fits].groupby("next").p.sum().reindex(range(words), fill_value=0.0)
return torch.from_numpy((law / law.sum()).to_numpy())
""",
        ),
        (
            "a product with one-hot rows",
            """
weight = probs * (translations[:, :len(prefix)] == prefix).all(dim=1)
law = weight @ F.one_hot(translations[:, len(prefix)], words).to(probs.dtype)
return F.normalize(law, p=1, dim=0)
""",
        ),
    ],
    "masked_gap": [
        (
            "the package's function on the real tokens",
            """
real = labels.flatten() != 0
return metrics.signed_gap(probs.flatten(0, 1)[real], labels.flatten()[real])
""",
        ),
        (
            "weights of 0 and 1 and a quotient of sums",
            """
weight = (labels > 0).double()
off = probs.double().amax(-1) - (probs.argmax(-1) == labels).double()
return ((off * weight).sum() / weight.sum()).item()
""",
        ),
        (
            "two loops in plain Python",
            """
total, count = 0.0, 0
for rows, own in zip(probs.tolist(), labels.tolist(), strict=True):
    for row, label in zip(rows, own, strict=True):
        if label:
            total += max(row) - (row.index(max(row)) == label)
            count += 1
return total / count
""",
        ),
    ],
    "avoidable_brier": [
        (
            "the difference of two whole Brier scores",
            """
p, q = probs.double(), posterior.double()
def expected(row):
    return (row * row - 2 * row * q).sum(1).mean()
return expected(p) - expected(q)
""",
        ),
        (
            "numpy with einsum",
            """
off = np.asarray(probs, dtype=np.float64) - np.asarray(posterior, dtype=np.float64)
return np.einsum("nk,nk->", off, off) / len(off)
""",
        ),
        (
            "the squared norm of the difference",
            """
return torch.linalg.matrix_norm(probs.double() - posterior.double()).item() ** 2 / len(probs)
""",
        ),
        (
            "K times the mean squared error",
            """
return probs.shape[1] * F.mse_loss(probs.double(), posterior.double()).item()
""",
        ),
    ],
}


def built(exercise: str, body: str, number: int):
    """The answer as a function, whose lines an error can show."""
    lines = body.strip("\n").splitlines()
    source = "\n".join(
        [f"def my_{exercise}({SIGNATURES[exercise]}):", *(f"    {line}" for line in lines)]
    )
    file = f"<{exercise} {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"torch": torch, "np": np, "pd": pd, "math": math, "F": functional, "metrics": metrics}
    exec(compile(source, file, "exec"), names)
    return names[f"my_{exercise}"]


def answers(exercise: str) -> list[Answer]:
    """The wrong ones, whose name is the mistake, and the right ones, whose name is the form."""
    return [
        Answer(words, kind, built(exercise, body, number), words if kind == "wrong" else "")
        for kind, table in (("wrong", WRONG), ("right", RIGHT))
        for number, (words, body) in enumerate(table[exercise])
    ]


TABLE = {exercise: answers(exercise) for exercise in SIGNATURES}
