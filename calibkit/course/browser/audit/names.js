// What the name of a column, and a label, says: the lists of calibkit.auditing.names, and its rules.
import { folded } from "./python_words.js";
import { unsure } from "./refusals.js";

const words = (text) => new Set(text.split(/\s+/).filter(Boolean));

export const LABEL_NAMES = words(`gold gold_label ground_truth groundtruth truth true_label true_class label_true true
  y_true y_test gt gt_label actual observed obs target targets label labels label_ids y outcome class`);
export const VAGUE_NAMES = words(`y class`);
export const CORRECT_NAMES = words(`correct is_correct iscorrect hit right is_right exact_match acc acc_norm
  quasi_exact_match`);
export const WRONG_NAMES = words(`wrong is_wrong incorrect is_incorrect error is_error mistake miss`);
export const CONFIDENCE_NAMES = words(`confidence conf certainty max_prob maxprob max_probability max_softmax msp
  confidence_score answer_confidence verbalized_confidence verbalised_confidence prediction_score
  prediction_probability prediction_confidence pred_score predicted_score predicted_prob predicted_probability
  pred_prob pred_conf top_prob top1_prob top1_score`);
export const SCORE_NAMES = words(`p prob probs proba probability probabilities score scores softmax sigmoid y_prob
  y_proba y_score y_probs p_hat phat pd risk logit logits pred_proba predict_proba decision_function logprob log_prob
  logprobs prob_pct percent pct output outputs y_logit y_pred pred preds prediction predictions predicted y_hat
  yhat`);
export const PART_WORDS = words(`cal calib calibrated cats class conf confidence confidences label log logit logits
  logprob logprobs out output p pct percent pred predicted prediction predictions preds prob proba probabilities
  probability probs score scored scores sigmoid softmax y`);
const STATED_KINDS = {
  percent: words("% pct percent percentage"),
  logprobs: words("logp logprob logprobs"),
  logits: words("logit logits margin"),
  probs: words("conf confidence msp p pd prob proba probabilities probability probs sigmoid softmax"),
};
const RIGHT = ["correct", "right", "pass", "passed", "c"]; // whether an answer is, rather than a class
export const POSITIVE = ["1", "yes", "true", "positive", "pos", "y", "t", "+1", "+", ...RIGHT];
export const NEGATIVE = ["0", "no", "false", "negative", "neg", "n", "f", "-1", "-",
  "incorrect", "wrong", "fail", "failed", "i"];
const JUDGED = words(`verdict judge judged judgement judgment grade graded grader grading evaluation correct
  correctness accuracy acc em right match matched pass passed solved success hit`);

// A name in small letters, all that parts its words an underscore.
export function bare(name) {
  return name.trim().toLowerCase().replace(/[^\p{L}\p{N}_%]+/gu, "_").replace(/^_+|_+$/g, "");
}

// The words of a name, without numbers.
const partsOf = (name) => bare(name).replace(/log_?p(rob)?s?(?=_|$|[0-9])/g, "logprob")
  .split(/[_\d]+/).filter(Boolean);

// Whether a name is of words that stand beside a class.
export const isOfParts = (name) => partsOf(name).every((word) => PART_WORDS.has(word));

// The kind of scores that all names state, or null.
export function statedKind(names) {
  const all = names.map(partsOf);
  return Object.keys(STATED_KINDS)
    .find((kind) => all.every((own) => own.some((word) => STATED_KINDS[kind].has(word)))) ?? null;
}

export function shortList(names) {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 6).join(", ")} … (${names.length} columns)`;
}

// A label as a word: whole numbers of any kind alike.
export function wordAt(column, row) {
  if (column.words) {
    const word = column.words[row].trim();
    return /^[+-]?\d+(\.0*)?$/.test(word) ? unsure("Labels are numbers among words.") : word;
  }
  return column.kind === "b" ? column.text(row) : String(column.numbers[row]);
}

// The words of all rows that have one.
export const wordsIn = (column) => column.filled().map((row) => wordAt(column, row));

// Which of two labels is surely the positive one, or null.
export function knownPositive(labels) {
  const low = labels.map(folded), pairs = [...POSITIVE.map((yes, place) => [yes, NEGATIVE[place]]), ["1", "-1"]];
  const pair = pairs.find((both) => low.length === 2 && both.every((word) => low.includes(word)));
  return pair ? labels[low.indexOf(pair[0])] : null;
}

// Whether labels say right or wrong: by words such as pass and fail, or by the column's name.
export function judged(name, labels) {
  const low = new Set(labels.map(folded)), named = partsOf(name).some((part) => JUDGED.has(part));
  const letters = named && low.has("a") && low.has("b") && (low.size === 2 || low.has("c")); // of a grader
  return low.size <= 3 && (letters || POSITIVE.some((yes, place) => low.has(yes) && low.has(NEGATIVE[place])
    && (named || RIGHT.includes(yes))));
}

// Whether of two classes the first is the event: 1 before 0, yes before no, 2 before 1.
export function eventFirst(classes) {
  const numbers = classes.every((word) => /^[+-]?\d+$/.test(word));
  return numbers ? Number(classes[0]) > Number(classes[1]) : knownPositive(classes) === classes[0];
}

// Whether it says right or wrong.
export const isMark = (column) => column.filled().length > 0
  && wordsIn(column).every((word) => ["1", "yes", "true", "0", "no", "false"].includes(word.toLowerCase()));
