"""The names that the convention of `reading` knows, and names as they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _set(words: str) -> set[str]:
    return set(words.split())


LABELS = _listed(  # the likelier first
    """gold gold_label ground_truth groundtruth truth true_label true_class label_true true y_true
    y_test gt gt_label actual observed obs target targets label labels label_ids y outcome class
    """
)
CORRECT = _listed(
    """correct is_correct iscorrect hit right is_right exact_match acc acc_norm quasi_exact_match
    """
)
MARK = "score"  # of an answer, right or wrong, where it holds nothing but 0 and 1
WRONG = ("wrong", "is_wrong", "incorrect", "is_incorrect", "error", "is_error", "mistake", "miss")
CONFIDENCES = _listed(
    """confidence conf certainty max_prob maxprob max_probability max_softmax msp confidence_score
    answer_confidence verbalized_confidence verbalised_confidence prediction_score
    prediction_probability prediction_confidence pred_score predicted_score predicted_prob
    predicted_probability pred_prob pred_conf top_prob top1_prob top1_score
    """
)
SCORES = _listed(
    """p prob probs proba probability probabilities score scores softmax sigmoid y_prob y_proba
    y_score y_probs p_hat phat pd risk logit logits pred_proba predict_proba decision_function
    logprob log_prob logprobs prob_pct percent pct output outputs y_logit y_pred pred preds
    prediction predictions predicted y_hat yhat
    """
)
RECORD = (*CORRECT, *CONFIDENCES)  # keys of a record that say the same without its name
PARTS = _set(  # words that stand beside the class in the name of its scores
    """p prob probs proba probability probabilities score scores scored pred preds prediction
    predictions predicted confidence conf confidences softmax sigmoid logit logits logprob
    logprobs log y class label pct percent output out cats
    """
)
DECISIONS = _set(
    """pred preds predict predicted prediction predictions decision yhat hat argmax response
    guess scored into
    """
)
BESIDE = _set(  # of columns that are neither labels nor scores
    """index id unnamed row fold repeat split weight weights threshold age epoch step time date
    seed rank entropy loss year resample number nr no usage count cutoff margin
    """
)
SURE = _set("confidence conf certainty sureness rating")  # in a name: a confidence, perhaps
TOGETHER = _set(  # of columns whose equal values mark rows that belong together
    """patient user subject session person customer cust client participant speaker author donor
    household account acct kunde konto
    """
)
NO_GROUP = BESIDE - {"id", "number", "nr", "no", "age", "year"} | DECISIONS
NO_GROUP |= _set("answer reply output question prompt text correct acc match label class score")
JUDGED = _set(  # of columns that say, by two words, whether an answer is right
    """verdict judge judged judgement judgment grade graded grader grading evaluation correct
    correctness right match matched pass passed solved success hit
    """
)
RIGHT = ("correct", "right", "pass", "passed", "c")  # words of that which are hardly a class
POSITIVE = ("1", "yes", "true", "positive", "pos", "y", "t", "+1", "+", *RIGHT)
WRONGLY = ("incorrect", "wrong", "fail", "failed", "i")
NEGATIVE = ("0", "no", "false", "negative", "neg", "n", "f", "-1", "-", *WRONGLY)
MARKS = _set(  # labels that may stand for no value
    """-1 -9 -99 -999 -9999 9 99 999 9999 ? . - na n/a n/d nd nan null none missing unknown unk
    unclear invalid not_attempted
    """
)
KINDS = {  # by words of all names
    "percent": {"percent", "pct", "percentage", "%"},
    "logprobs": {"logprob", "logprobs", "logp"},
    "logits": {"logit", "logits"},
    "probs": {
        *("p", "prob", "probs", "proba", "probability", "probabilities", "softmax", "sigmoid"),
        *("confidence", "conf", "msp", "pd"),
    },
}


def bare(column) -> str:
    """A name in small letters, all that parts its words an underscore.

    >>> bare(" Y-True "), bare("Unnamed: 0")
    ('y_true', 'unnamed_0')
    """
    return re.sub(r"[^\w%]+", "_", str(column).strip().lower()).strip("_")


def parts(column) -> set[str]:
    """The words of a name, without numbers.

    >>> sorted(parts("prob_0")), sorted(parts("log_prob"))
    (['prob'], ['logprob'])
    """
    name = re.sub("log_?p(rob)?s?(?=_|$|[0-9])", "logprob", bare(column))
    return set(re.split(r"[_\d]+", name)) - {""}


def decides(column) -> bool:
    """Whether a column is called as what a model decides, also by SAS: I_BAD beside F_BAD.

    >>> decides("I_BAD"), decides("pred_label"), decides("F_BAD")
    (True, True, False)
    """
    return bool(parts(column) & DECISIONS) or bool(re.match("[IU]_", str(column)))


def mark_of(values: Iterable[str]) -> str | None:
    """The one of some labels that may stand for no value beside two others at least.

    >>> mark_of(["0", "1", "9"]), mark_of(["-1", "0", "1"]), mark_of(map(str, range(10)))
    ('9', '-1', None)
    """
    values = set(values)
    able = [v for v in values if v.casefold() in MARKS]
    able = [v for v in able if not (v.isdigit() and str(int(v) - 1) in values)]
    return able[0] if len(able) == 1 and len(values) > 2 else None


def judged(label: str, values: Iterable[str]) -> bool:
    """Whether labels say right or wrong: by words such as pass and fail, or by the column's name.

    >>> judged("y", ["pass", "fail"]), judged("judge", ["yes", "no"]), judged("y", ["yes", "no"])
    (True, True, False)
    """
    folded = {value.casefold() for value in values}
    pairs = list(zip(POSITIVE, NEGATIVE, strict=True))
    said = [yes for yes, no in pairs if {yes, no} <= folded] if len(folded) <= 3 else []
    return any(yes in RIGHT or parts(label) & JUDGED for yes in said)


def kind_of(columns: Iterable[str]) -> str | None:
    """The kind of scores that all names state, if they state one.

    >>> kind_of(["logit_0", "logit_1"]), kind_of(["p_cat"]), kind_of(["cat"])
    ('logits', 'probs', None)
    """
    words = [parts(column) for column in columns]
    return next((kind for kind, own in KINDS.items() if all(found & own for found in words)), None)


def word(value) -> str:
    """A label as it is compared with names of classes: whole numbers without a fraction.

    >>> word(1.0), word("00"), word(" cat "), word(True)
    ('1', '0', 'cat', 'True')
    """
    text = str(value).strip()
    if re.fullmatch(r"[+-]?\d{1,15}(\.0*)?", text):
        return str(int(float(text)))
    return text


def words(column: pd.Series) -> pd.Series:
    """`word` of every value.

    >>> words(pd.Series([1.0, 0.0])).tolist()
    ['1', '0']
    """
    codes, values = pd.factorize(column, use_na_sentinel=False)
    return pd.Series(np.array([word(value) for value in values], object)[codes], column.index)


def short(columns: list) -> str:
    """The first names and how many there are.

    >>> short(["a", "b"]), short(list("abcdefghijkl"))
    ('a, b', 'a, b, c, d, e, f … (12 columns)')
    """
    if len(columns) <= 10:
        return ", ".join(map(str, columns))
    return f"{', '.join(map(str, columns[:6]))} … ({len(columns)} columns)"
