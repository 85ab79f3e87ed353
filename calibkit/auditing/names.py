"""What the name of a column says: labels, scores of a class, a decision, or something beside."""

from __future__ import annotations

import re
from typing import NamedTuple

LABELS = (
    *("label", "labels", "target", "targets", "y_true", "ground_truth", "groundtruth", "gt"),
    *("true_label", "true_class", "label_true", "gold", "gold_label", "truth"),
)
MAYBE_LABELS = (
    *("y", "true", "actual", "class", "category", "outcome", "event", "y_test", "observed", "obs"),
    *("expected", "reference"),
)
CORRECT = (
    *("correct", "is_correct", "iscorrect", "hit", "right", "is_right", "exact_match", "acc"),
    *("acc_norm", "quasi_exact_match"),
)
MARKS = ("score",)  # of an answer, right or wrong, where they hold nothing but 0 and 1
WRONG = ("wrong", "is_wrong", "incorrect", "is_incorrect", "error", "is_error", "mistake", "miss")
DECISIONS = (
    *("predicted", "prediction", "predictions", "pred", "preds", "y_pred", "y_hat", "yhat"),
    *("decision", "decisions", "pred_label", "predicted_label", "label_pred", "pred_class"),
    *("predicted_class", "argmax", "guess", "output_label", "y_predicted", "hard_label", "predict"),
    *("prediction_label", "prediction_class", "model_answer", "model_prediction"),
)
CONFIDENCES = (
    *("confidence", "conf", "max_prob", "maxprob", "max_probability", "max_softmax", "msp"),
    *("top_prob", "top1_prob", "pred_prob", "predicted_prob", "confidence_score"),
    *("prediction_score", "pred_score", "predicted_score", "pred_conf", "prediction_probability"),
    *("prediction_prob", "prediction_confidence", "predicted_probability"),
    *("verbalized_confidence", "verbalised_confidence", "answer_confidence"),
)
QUESTIONS = ("kind", "category", "subject", "task", "topic", "subset", "domain")  # kinds of them
# names that decisions and scores share: only what such a column holds can tell
EITHER = ("y_pred", "pred", "preds", "prediction", "predictions", "predicted", "y_hat", "yhat")
SCORES = (
    *("p", "prob", "probs", "proba", "probability", "probabilities", "score", "scores", "softmax"),
    *("sigmoid", "y_prob", "y_proba", "y_score", "y_probs", "p_hat", "phat", "pd", "logit"),
    *("logits", "pred_proba", "predict_proba", "output", "outputs"),
    *("prob_pct", "probability_pct", "prob_percent", "p_pct", "p_percent", "percent", "pct"),
    *(
        "decision_function",
        "risk",
        "y_logit",
        "logprob",
        "log_prob",
        "logprobs",
        "positive_probability",
        "prob_pos",
    ),
)
# what tables hold beside the scores
BESIDE = (
    *("index", "id", "unnamed_0", "split", "fold", "entropy", "margin", "loss", "nll", "weight"),
    *("weights", "sample_weight", "threshold", "cutoff", "age", "uncertainty", "variance", "std"),
    *("temperature", "epoch", "step", "time", "timestamp", "date", "rank", "brier", "lr", "seed"),
    *("latency", "duration", "length", "count", "n", "row", "row_id", "sample_id", "bias"),
    *(
        "doc_id",
        "question_id",
        "p_value",
        "pvalue",
        "p_val",
        "perplexity",
        "distance",
        "year",
        "amount",
        "income",
    ),
)
# words of a name that say of a score what else it is
_OTHER = {
    *("percentile", "quantile", "decile", "rank", "bin", "bucket", "std", "sd", "se", "var"),
    *("lower", "upper", "low", "high", "lo", "hi", "ci", "min", "diff", "delta", "ratio", "change"),
    *("error", "entropy", "threshold", "cutoff", "weight", "loss", "gap", "margin", "value"),
    *("scale", "bias", "temperature", "norm", "sum", "mean", "max", "total", "count", "median"),
}
_SORT = (
    r"y_prob(?:a|s)?|y_score|pred_prob(?:a|s)?|predict_proba|predicted_prob|logits?|"
    r"log_?probs?|prob(?:s|a|ability|abilities)?|p|scores?|softmax|sigmoid|percent|pct|"
    r"y_pred_prob(?:a|s)?|y_pred|preds?|predictions?|output|out|class|label|z|conf|confidence"
)
_BEFORE = re.compile(rf"({_SORT})(?:[\s_.:\-]+|(?=[\[(]))(\S.*)", re.IGNORECASE)
_NUMBERED = re.compile(rf"({_SORT})(\d+)", re.IGNORECASE)
_AFTER = re.compile(rf"(\S.*?)[\s_.:\-]+({_SORT})", re.IGNORECASE)
_TOP = re.compile(r"(^|[^a-z])top[\s_\-]*[k\d]|(^|[^a-z])rank[\s_\-]*\d|\d+(st|nd|rd|th)[\s_]")

_FIRST = re.compile(r"top_?1_(p|prob|probability|score|conf|confidence)|(p|prob|score|conf)_top_?1")


def beside(column) -> bool:
    """Whether a name is that of what stands beside scores.

    >>> beside("Unnamed: 0"), beside("age"), beside("p_cat")
    (True, True, False)
    """
    return bare(column) in BESIDE


def odd(column) -> bool:
    """Whether a name has a word that no score has, unless it is the name of a class.

    >>> odd("score_percentile"), odd("p_low"), odd("p_cat"), odd("low")
    (True, True, False, False)
    """
    words = bare(column).split("_")
    return len(words) > 1 and bool(_OTHER & {*words})


class Parted(NamedTuple):
    """A column of a family: `p_cat` belongs to the family `p` and stands for the class `cat`."""

    family: str
    of: str


def bare(column) -> str:
    """A name in small letters, all that parts its words an underscore.

    >>> bare(" Y-True "), bare("Unnamed: 0")
    ('y_true', 'unnamed_0')
    """
    return re.sub(r"[^\w%]+", "_", str(column).strip().lower()).strip("_")


def parted(column) -> Parted | None:
    """Family and class of a column, if it has any: p_cat, prob0, cat_score, logit[3], P(cat).

    >>> parted("p_cat"), parted("prob_class0").of, parted("cat_score").family, parted("age")
    (Parted(family='p', of='cat'), '0', '_score', None)
    """
    text = str(column).strip()
    if found := _BEFORE.fullmatch(text) or _NUMBERED.fullmatch(text):
        return Parted(found[1].lower(), _class(found[2].strip("[]() ")))
    if found := _AFTER.fullmatch(text):
        return Parted("_" + found[2].lower(), _class(found[1]))
    return None


def _class(text: str) -> str:
    """The number of a class that is called class_3 or label3."""
    return re.sub(r"^(class|label|cls)[_ ]?(?=\d+$)", "", text, flags=re.IGNORECASE)


def said(columns: list) -> str | None:
    """The kind of scores that the names of columns state: percent, logprobs, logits or probs.

    >>> said(["logit_0", "logit_1"]), said(["p_cat", "p_dog"]), said(["prob_pct"]), said(["cat"])
    ('logits', 'probs', 'percent', None)
    """
    joined = [re.sub("log_?p(rob)?s?", "logprob", bare(column)) for column in columns]
    words = [set(re.split(r"[_\d]+", name)) for name in joined]
    for kind, stated in _STATED.items():
        if all(found & stated for found in words):
            return kind
    if any("%" in str(column) for column in columns):
        return "percent"
    return None


_STATED = {
    "percent": {"percent", "pct", "percentage", "%"},
    "logprobs": {"logprob"},
    "logits": {"logit", "logits"},
    "probs": {
        *("p", "prob", "probs", "proba", "probability", "probabilities", "softmax", "sigmoid"),
        *("phat", "pd", "confidence", "conf", "msp", "maxprob"),
    },
}


def sure(column) -> bool:
    """Whether a name is that of the confidence of what a row predicts.

    >>> sure("max_prob"), sure("top1_score"), sure("prob")
    (True, True, False)
    """
    name = bare(column)
    return name in CONFIDENCES or bool(_FIRST.fullmatch(name))


def of_top(columns: list) -> bool:
    """Whether names are those of the k largest scores, which are no classes.

    >>> of_top(["top1_prob", "top2_prob"]), of_top(["p_top", "p_coat"])
    (True, False)
    """
    return any(_TOP.search(str(column).lower()) for column in columns)


def short(columns: list) -> str:
    """The first names and how many there are.

    >>> short(["a", "b"]), short(list("abcdefghijkl"))
    ('a, b', 'a, b, c, d, e, f … (12 columns)')
    """
    if len(columns) <= 10:
        return ", ".join(map(str, columns))
    return f"{', '.join(map(str, columns[:6]))} … ({len(columns)} columns)"


def typed(word: str) -> str:
    """A word as it is typed at a command.

    >>> typed("default"), typed("Charged Off")
    ('default', '"Charged Off"')
    """
    return f'"{word}"' if re.search(r"[^\w.,*+-]", word) else word


def option(columns: list[str]) -> str:
    """What the user types for a set of columns.

    >>> option(["p_cat", "p_dog"]), option(["big cat"])
    ('--scores p_cat,p_dog', '--scores "big cat"')
    """
    start = parted(columns[0])
    if len(columns) > 6 and start is not None and not start.family.startswith("_"):
        stem = columns[0][: columns[0].rfind(start.of)]
        return f'--scores "{stem}*"'
    return f"--scores {typed(','.join(columns))}"
