// One score that goes with a column of decisions: how sure a row is of what it predicts.
// As calibkit.auditing.decisions.
import { bare, isSure, scoresOption, shortList, standsBeside, typed } from "./names.js";
import { CORRECT_NAMES, DECISION_NAMES } from "./name_words.js";
import { demandUnmixed, holdsBinary, holdsFractions, isNumber } from "./table.js";
import { folded, inOrder, quoted } from "./python_words.js";
import { NEGATIVE, knownPositive, wordAt } from "./label_words.js";
import { isSingle } from "./sets.js";
import { refuse } from "./refusals.js";

const DECISION = ["pred", "predicted", "predict", "prediction", "decision", "yhat", "hat", "argmax"];
const least = (values) => values.reduce((low, value) => Math.min(low, value), Infinity);
const most = (values) => values.reduce((high, value) => Math.max(high, value), -Infinity);

// Whether a column is called after what a row predicts, and holds no fractions.
export function decides(column) {
  const name = bare(column.name);
  const called = DECISION_NAMES.has(name) || name.split("_").some((word) => DECISION.includes(word));
  return (called || /^top_?1(_(class|label|pred|prediction))?$/.test(name)) && !holdsFractions(column);
}

// A score that is called confidence, unless the user says of what.
export function demandSaid(table, label, score) {
  const decision = table.names.find((name) => name !== label && decides(table.of(name)));
  if (!isSure(score) || decision === undefined) return;
  refuse(`${quoted(score)} may be the confidence of what ${quoted(decision)} says, or the score of one `
    + `class: say --predicted ${typed(decision)}, or --positive CLASS`);
}

// Where only the confidence of what a row predicts is there: with it, whether it is right.
export function ofDecisions(table, label, left) {
  const sure = left.filter((name) => isSure(name) && isNumber(table.of(name)));
  if (sure.length !== 1) {
    refuse(`the scores may be ${shortList(sure)}: say which with ${sure.map((name) => scoresOption([name])).join(" or ")}`);
  }
  if (CORRECT_NAMES.has(bare(label))) return { label, scores: sure, event: true };
  const correct = left.filter((name) => CORRECT_NAMES.has(bare(name)));
  if (correct.length === 1) return { label: correct[0], scores: sure, event: true };
  const decisions = left.filter((name) => decides(table.of(name)));
  if (decisions.length !== 1) {
    const columns = decisions.length ? `the columns ${shortList(decisions)} say` : "no column says";
    refuse(`${quoted(sure[0])} is called the confidence of what a row predicts, but ${columns} what that `
      + "is. Name it with --predicted COLUMN, or the column that says whether it is right "
      + `with --label COLUMN; if ${quoted(sure[0])} is the score of one class, say --scores ${sure[0]} --positive CLASS`);
  }
  demandOwn(table, label, decisions[0], sure[0]);
  return { label, scores: sure, predicted: decisions[0], event: true };
}

// The rows that have both, by what they decide: [[word, scores], ...].
function parts(decisionOf, scores) {
  const found = new Map();
  for (let row = 0; row < scores.length; row += 1) {
    const word = decisionOf(row);
    if (word === null || Number.isNaN(scores[row])) continue;
    if (!found.has(word)) found.set(word, []);
    found.get(word).push(scores[row]);
  }
  return [...found];
}

// A confidence that may be the score of one of two classes: such a score is above a threshold for
// one decision alone, or falls below one half.
function demandOwn(table, label, decision, score) {
  const column = table.of(label), own = demandUnmixed(table.of(decision));
  if (new Set(column.filled().map((row) => column.text(row))).size > 2) return;
  const found = parts((row) => (own.lacks(row) ? null : own.text(row)), table.of(score).numbers);
  const [[first, ofFirst], [second, ofSecond] = []] = found, all = found.flatMap(([, scores]) => scores);
  const apart = found.length === 2 && (most(ofFirst) < least(ofSecond) || most(ofSecond) < least(ofFirst));
  if (!apart && !(least(all) < 0.5 && most(all) <= 1)) return;
  const yes = found.length === 1 || least(ofFirst) > most(ofSecond) ? first : second;
  refuse(`${quoted(score)} may be the confidence of what ${quoted(decision)} says, or the score of one `
    + `class: of two classes the one predicted is at least one half. Say --predicted ${typed(decision)} `
    + `for the first, ${scoresOption([score])} --positive ${typed(yes)} for the second`);
}

// A score that does not say, by a threshold, what stands in a column of decisions: it is the
// confidence of these decisions then, of the other class, or of another model.
export function demandAgreement(table, label, left, score) {
  const column = table.of(label), scores = table.of(score).numbers;
  const labels = inOrder(new Set(column.filled().map((row) => wordAt(column, row))));
  if (labels.length > 2) return;
  for (const [name, decisionOf, option] of decisionsOf(table, column, left, score, labels)) {
    if (byThreshold(parts(decisionOf, scores))) continue;
    refuse(`${quoted(score)} does not tell by any threshold what ${quoted(name)} says: it may be the `
      + `confidence of that, ${option}, or the score of one class whatever ${quoted(name)} says, `
      + [...labels].reverse().map((word) => `--positive ${typed(word)}`).join(" or "));
  }
}

// Columns of decisions, and those that follow from what is right; with the option of each.
function* decisionsOf(table, labels, left, score, words) {
  for (const name of left.filter((one) => one !== score && decides(table.of(one)))) {
    const column = demandUnmixed(table.of(name));
    yield [name, (row) => (column.lacks(row) ? null : wordAt(column, row)), `--predicted ${typed(name)}`];
  }
  for (const name of left.filter((one) => CORRECT_NAMES.has(bare(one)) && holdsBinary(table.of(one)))) {
    const right = table.of(name).numbers, last = words.at(-1);
    // right where the label is 1, and wrong where it is 0: 1 was predicted
    const decided = (row) => ((right[row] === 1) === (wordAt(labels, row) === last) ? "True" : "False");
    yield [name, decided, `--label ${typed(name)}`];
  }
}

// Whether all scores of one decision lie above those of the other, if there is one.
function byThreshold(found) {
  if (!found.length || found.length > 2) return true;
  const [[first, mine], [second, theirs] = []] = found;
  if (found.length === 1) return !(NEGATIVE.includes(folded(first)) && least(mine) >= 0.5);
  const rising = most(mine) <= least(theirs), falling = most(theirs) <= least(mine);
  const positive = knownPositive([first, second]);
  if (positive === null) return rising || falling;
  return first === positive ? falling : rising;
}

// The one column that goes with the decisions that the user names.
export function confidenceColumn(table, left) {
  const numbers = left.filter((name) => isNumber(table.of(name)) && !standsBeside(name));
  let sure = numbers.filter(isSure);
  if (!sure.length) sure = numbers.filter((name) => isSingle(table.of(name), new Set()));
  if (sure.length === 1) return sure[0];
  return refuse(`the scores of the predictions may be ${shortList(sure.length ? sure : numbers)}: say which with `
    + "--scores COLUMN");
}
