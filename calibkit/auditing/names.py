"""The names that the convention of `columns` knows, and sets of columns that belong together."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pandas as pd

from calibkit import metrics
from calibkit.auditing.questions import joined


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
WRONGED = _set(  # words of columns in which 1 and yes say that an answer is wrong
    "wrong incorrect error mistake miss false fail failed hallucinated hallucination refuted "
    "contradicted"
)
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
CALIBRATED = _set(  # or not, where both stand side by side
    "cal calib calibrated isotonic iso platt ts scaled raw uncal uncalibrated"
)
PARTS |= CALIBRATED
REVISED = _set("clean cleaned corrected adjudicated revised final")  # beside labels as they were
DECISIONS = _set(
    """pred preds predict predicted prediction predictions decision yhat hat argmax response
    guess scored into
    """
)
RANKS = _set("rank beam top")
BESIDE = _set(  # of columns that are neither labels nor scores
    """index id unnamed row fold repeat split weight weights threshold age epoch step time date
    seed rank entropy loss year resample number nr no usage count cutoff margin
    """
)
TIMES = _set(  # whose rows are samples of their own
    "month date day week year quarter time visit eye side sample"
)
SPLITS = _set("train training valid validation val dev test testing holdout")  # of rows
SURE = _set("confidence conf certainty sureness rating")  # in a name: a confidence, perhaps
TOGETHER = _set(  # of columns whose equal values mark rows that belong together
    """patient user subject session person customer cust client participant speaker author donor
    household account acct kunde kunden konto debtor
    """
)
NO_GROUP = BESIDE - {"id", "number", "nr", "no", "age", "year"} | DECISIONS
NO_GROUP |= _set("answer reply output question prompt text correct acc match label class score")
JUDGED = _set(  # of columns that say, by two words, whether an answer is right
    """verdict judge judged judgement judgment grade graded grader grading evaluation correct
    correctness accuracy acc em right match matched pass passed solved success hit tp
    """
)
LETTERS = {"a", "b", "c"}  # of a grader: correct, incorrect, not attempted
RIGHT = _listed("correct right pass passed accept accepted ✓ c")  # which are hardly a class
POSITIVE = ("1", "yes", "true", "positive", "pos", "y", "t", "+1", "+", *RIGHT)
WRONGLY = ("incorrect", "wrong", "fail", "failed", "reject", "rejected", "✗", "i")
NEGATIVE = ("0", "no", "false", "negative", "neg", "n", "f", "-1", "-", *WRONGLY)
MARKS = _set(  # labels that may stand for no value
    """-1 -9 -99 -999 -9999 -100 9 99 999 9999 ? . - na n/a n/d nd nan null none missing unknown unk
    unclear invalid not_attempted
    """
)
KINDS = {  # by words of all names
    "percent": {"percent", "pct", "percentage", "%"},
    "logprobs": {"logprob", "logprobs", "logp"},
    "logits": {"logit", "logits", "margin"},
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


def plain(column, without: Collection[str]) -> str:
    """`bare` without some words.

    >>> plain("prob_ts", CALIBRATED), plain("isotonic", CALIBRATED), plain("label_clean", REVISED)
    ('prob', '', 'label')
    """
    return "_".join(one for one in bare(column).split("_") if one not in without)


def parts(column) -> set[str]:
    """The words of a name, without numbers.

    >>> sorted(parts("prob_0")), sorted(parts("log_prob"))
    (['prob'], ['logprob'])
    """
    name = re.sub("log_?p(rob)?s?(?=_|$|[0-9])", "logprob", bare(column))
    return set(re.split(r"[_\d]+", name)) - {""}


def beside(table: Any, column: str) -> bool:
    """Whether a column is called as what is neither label nor score, such as an id; one of two
    values may be called so in part: on_time, no_show."""
    words = parts(column)
    return bool(words & BESIDE) and (words <= BESIDE or table[column].nunique() != 2)


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


def right_of(label: str, values: Iterable[str]) -> str | None:
    """The one of some labels that says right: by words such as pass and fail, or where the column
    is called so, or after what is wrong.

    >>> right_of("y", ["pass", "fail"]), right_of("judge", ["yes", "no"])
    ('pass', 'yes')
    >>> right_of("grade", ["A", "B", "C"]), right_of("y", ["yes", "no"])
    ('A', None)
    >>> right_of("judge_wrong", ["1", "0"]), right_of("grader_id", ["1", "0"])
    ('0', None)
    >>> right_of("pass_fail", ["1", "0"]), right_of("judge_not_wrong", ["1", "0"])
    ('1', '1')
    """
    folded = {value.casefold(): value for value in values}
    if len(folded) > 3:
        return None
    named, pairs = parts(label), list(zip(POSITIVE, NEGATIVE, strict=True))
    wrong = named & WRONGED and not named & {*POSITIVE, "not", "non", "free"}
    called = (wrong or named & JUDGED) and not named & BESIDE
    pairs = [pair for pair in pairs if set(pair) <= set(folded) and (called or pair[0] in RIGHT)]
    said = [no if wrong and yes not in RIGHT else yes for yes, no in pairs]
    if called and {"a", "b"} <= set(folded) <= LETTERS:
        said.append("a")
    return folded[said[0]] if said else None


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


def is_whole(value: str) -> bool:
    """Whether a word is a whole number."""
    return bool(re.fullmatch(r"[+-]?\d+", value))


FEW = 20  # rows, below which a pattern may be chance
SHOWN = 200  # rows that show whether one column is the mean of others


def is_number(column: pd.Series) -> bool:
    """Whether it holds numbers, and not only missing ones."""
    return column.dtype.kind in "fiu" and bool(column.notna().any())


def fractional(column: pd.Series) -> bool:
    """Whether it holds numbers that are not whole."""
    return column.dtype.kind == "f" and bool((column.dropna() % 1 != 0).any())


def matrix_of(table: Any, columns: list[str]) -> np.ndarray:
    """(n, K) columns as float64."""
    return np.column_stack([np.asarray(table[column], float) for column in columns])


def strange(matrix: np.ndarray) -> np.ndarray:
    """(K,) which columns are no scores: whole numbers beside fractions, or above a sum of 1.

    A fold, an index or a count beside the scores holds whole numbers other than 0 and 1, or values
    outside [0, 1] where the others are probabilities.
    """
    if len(matrix) < 3:
        return np.zeros(matrix.shape[1], bool)
    whole = (matrix == np.round(matrix)).all(0)
    odd = whole & ~np.isin(matrix, (0, 1)).all(0)
    if odd.any() and not whole.all():
        return odd
    outside = ((matrix < 0) | (matrix > 1)).any(0)
    rest = matrix[:, ~outside]
    alone = outside.any() and rest.shape[1] > 1 and np.abs(rest.sum(1) - 1).max(initial=0) < 0.01
    return np.asarray(outside & bool(alone))


def one_hot(table: Any, columns: list[str]) -> bool:
    matrix = np.column_stack([table[c] for c in columns])
    return bool(np.isin(matrix, (0, 1)).all() and (matrix.sum(1) == 1).all())


def label_column(table: Any, label: list[str]) -> pd.Series:
    """(n,) the labels; of several columns of 0 and 1 the class of the one that is 1."""
    if len(label) == 1:
        return table[label[0]]
    if not one_hot(table, label):
        raise ValueError(
            f"{short(label)} hold no single 1 in every row: audit one label at a time, such as "
            f"--label {shlex.quote(joined(label[:1]))} --scores COLUMN"
        )
    return pd.Series(np.array(middles(label))[matrix_of(table, label).argmax(1)])


def words_of(table: Any, label: list[str]) -> pd.Series:
    """(n,) the labels as words, NaN where there is none."""
    return table.words(label[0]) if len(label) == 1 else words(label_column(table, label))


# --- by their names ---


def known(columns: list[str]) -> bool:
    """Whether nothing but words of `PARTS` stands in the name of the first."""
    return parts(columns[0]) <= PARTS


def middles(columns: list[str]) -> list[str]:
    """What differs in the names of columns: p_cat, p_car are cat, car."""
    if len(columns) < 2:
        return list(columns)
    start, end = _common(columns), _common([c[::-1] for c in columns])[::-1]
    head = start.rstrip("0123456789")
    counted = all(column[len(head) :][:1].isdigit() for column in columns)
    start = head if counted else re.sub(r"[^\W_]+$", "", start)
    end = re.sub(r"^[^\W_]+", "", end)
    rest = [column[len(start) : len(column) - len(end)].strip(" _()[]=:") for column in columns]
    return rest if all(rest) and len(set(rest)) == len(rest) else list(columns)


def _common(columns: list[str]) -> str:
    """What the first and the last in alphabetical order, and so all, begin with."""
    first, last = min(columns), max(columns)
    return first[: next((k for k, c in enumerate(first) if last[k : k + 1] != c), len(first))]


def _whole(column: str) -> str:
    """A name in which whole numbers have no fraction."""
    return re.sub(r"(\d)\.0+(?!\d)", r"\1", column.strip())


def _templates(column: str, words: Collection[str], *, strict: bool) -> list[tuple[str, str]]:
    """The name with a mark in place of each word that it holds, and the word.

    strict: the words stand alone, beside nothing but words of `PARTS`.
    """
    text, templates = _whole(column).casefold(), []
    for one in words:
        digit = one.lstrip("+-").isdigit()
        for place in (m.start() for m in re.finditer(f"(?={re.escape(one)})", text)):
            before, after = text[:place], text[place + len(one) :]
            free = not before[-1:].isalnum() or (digit and not before[-1].isdigit())
            free &= not after[:1].isalnum()
            if free or not (strict or digit):
                templates.append((f"{before}\0{after}", one))
    return [t for t in templates if not strict or parts(t[0].replace("\0", " ")) <= PARTS]


def class_in(column: str, words: Collection[str]) -> str | None:
    """The one of some words, in small letters, that a column of scores is called after."""
    if bare(column) in SCORES:
        return None
    able = [one for _, one in _templates(column, words, strict=True)]
    return max(able, key=lambda w: (len(w), w), default=None)


def families(
    table: Any, columns: list[str], words: Collection[str], *, strict: bool
) -> list[list[str]]:
    """Sets of columns of numbers that are called after all of the words, a column a word."""
    folded = {one.casefold() for one in words}
    if len(folded) < 2 or len(folded) < len(set(words)) or len(folded) > len(columns):
        return []
    by_template: dict[str, dict[str, str]] = {}
    numeric = [column for column in columns if table[column].dtype.kind in "fiu"]
    for column in numeric:
        for template, one in _templates(column, folded, strict=strict):
            by_template.setdefault(template, {}).setdefault(one, column)
    sets: list[list[str]] = []
    for template, own in by_template.items():
        if set(own) == folded and len(set(own.values())) == len(own):
            whole = _with_others(table, template, list(own.values()), numeric, folded)
            sets += [whole] if whole is not None and whole not in sets else []
    return sets


def _with_others(
    table: Any, template: str, own: list[str], numeric: list[str], words: set[str]
) -> list[str] | None:
    """A set with the columns of classes that no row has; None where these are not clear."""
    before, after = map(re.escape, template.split("\0"))
    digits, alone = all(one.lstrip("+-").isdigit() for one in words), template == "\0"
    pattern = re.compile(before + (r"[+-]?\d+" if digits else r".+") + after)
    like = [c for c in numeric if pattern.fullmatch(_whole(c).casefold())]
    more = [c for c in numeric if c in own or c in like]
    ordered = [c for c in numeric if c in own]
    if (more == ordered and (digits or not alone)) or sum_to_one(table, ordered):
        return ordered
    if digits or sum_to_one(table, more):
        return more
    return None if not alone or neighbours(table, own) else ordered


def neighbours(table: Any, own: list[str]) -> list[str]:
    """Columns of numbers of both signs that stand beside some: they may be classes, too."""
    places = [table.columns.index(column) for column in own]
    return [
        column
        for place, column in enumerate(table.columns)
        if column not in own and not parts(column) & BESIDE and fractional(table[column])
        and (table[column].dropna() < 0).any() and min(abs(place - one) for one in places) == 1
    ]  # fmt: skip


def alike(columns: list[str], *, whole: bool = False) -> list[list[str]]:
    """Columns whose names are alike but for one word, or begin with the same; if none are and
    `whole`, all of them."""
    groups: dict[tuple, list[str]] = {}
    for column in columns:
        words = re.split(r"([^\W_]+)", column)
        if len(words) == 3:  # one word: alike but for its number
            stem = words[1].rstrip("0123456789")
            words = [words[0] + stem, words[1][len(stem) :], words[2]]
        for place in range(1, len(words), 2):
            if words[place]:
                groups.setdefault((place, *words[:place], *words[place + 1 :]), []).append(column)
        groups.setdefault((words[0], *words[1:2]), []).append(column)
    sets = [own for own in groups.values() if len(own) > 1]
    return sets or ([columns] if whole and len(columns) > 1 else [])


def regular(table: Any, columns: list[str]) -> list[list[str]]:
    """Columns alike but for one word beside words of `PARTS`: they count, or sum to 1."""
    sets = []
    for own in alike([c for c in columns if fractional(table[c])]):
        one = middles(own)
        rest = parts(own[0].replace(one[0], " ", 1) if one != own else "")
        numbers = sorted(int(_whole(w)) for w in one if re.fullmatch(r"\d+(\.0+)?", w))
        count = len(own) > 2 and numbers in ([*range(len(own))], [*range(1, len(own) + 1)])
        if (
            rest <= PARTS | {"column"}
            and (count or (rest and sum_to_one(table, own)))
            and own not in sets
        ):
            sets.append(own)
    return sets


def averaged(table: Any, own: list[str], columns: list[str]) -> bool:
    """Whether the mean of some columns stands beside them, as that of an ensemble's members."""
    mean = matrix_of({c: table[c].head(SHOWN) for c in own}, own).mean(1)
    rest = (table[c] for c in columns if c not in own and fractional(table[c]))
    return any(np.allclose(column.head(SHOWN), mean, atol=1e-3) for column in rest)


def opposite(table: Any, columns: list[str]) -> list[list[str]]:
    """Pairs of columns alike but for yes and no, or other such words."""
    pairs = {frozenset(pair) for pair in zip(POSITIVE, NEGATIVE, strict=True)}
    able = alike([c for c in columns if fractional(table[c])])
    return [own for own in able if {one.casefold() for one in middles(own)} in pairs]


def classes_of(table: Any, columns: list[str], words: Collection[str]) -> list[str]:
    """The classes that columns of scores are called after."""
    if columns in table.blocks.values():
        return list(map(str, range(len(columns))))
    if set(words) <= set(map(word, columns)):
        return list(map(word, columns))
    folded = {one.casefold(): one for one in words}
    by_template: dict[str, dict[str, str]] = {}
    for column in columns[:2000]:
        for template, one in _templates(column, folded, strict=False):
            by_template.setdefault(template, {})[column] = folded[one]
    for own in by_template.values():
        if len(set(own.values())) == len(folded) == len(columns) == len(own):
            return [own[column] for column in columns]
    return list(map(word, middles(list(map(_whole, columns)))))


def as_typed(table: Any, columns: list[str]) -> list[str]:
    """Columns as they are typed: the name of an array, p_* for very many, else each."""
    blocks = [name for name, own in table.blocks.items() if own == columns]
    start = _common(columns)
    if len(columns) > 30 and start and [c for c in table.columns if c.startswith(start)] == columns:
        return blocks or [f"{start}*"]
    return blocks or columns


# --- by their sums ---


def sum_to_one(table: Any, columns: list[str]) -> bool:
    """Whether the rows of some columns sum to 1, or to 100."""
    sums = matrix_of(table, columns).sum(1)
    sums = sums[np.isfinite(sums)]
    return len(sums) > 0 and any(np.abs(sums / whole - 1).max() < 0.05 for whole in (1, 100))


def runs(table: Any, columns: list[str]) -> list[list[str]]:
    """Neighbours whose rows sum to 1 or to 100, the longest from each column on."""
    sets: list[list[str]] = []
    while len(columns) > 1:
        total = matrix_of(table, columns).cumsum(1)
        total = total[np.isfinite(total[:, -1])]
        off = [np.abs(total / whole - 1).max(0, initial=0) < 0.02 for whole in (1, 100)]
        end = int(np.flatnonzero(off[0] | off[1]).max(initial=0)) if len(total) else 0
        sets += [columns[: end + 1]] if end else []
        columns = columns[end + 1 :]
    return sets


# --- by what they hold beside labels ---


def area(scores: np.ndarray, of_one: np.ndarray) -> tuple[float, float]:
    """The area under the ROC curve of the scores that there are, and by how many standard errors
    it lies above one half."""
    scores, of_one = np.asarray(scores, float), np.asarray(of_one, bool)
    there = np.isfinite(scores)
    scores, of_one = scores[there], of_one[there]
    ones, zeros = scores[of_one], scores[~of_one]
    if not len(ones) or not len(zeros):
        return 0.5, 0.0
    value = metrics.auroc(ones, zeros)
    error = np.sqrt((len(scores) + 1) / (12 * len(ones) * len(zeros)))
    return value, float((value - 0.5) / error)
