// Labels as 0 and 1 beside one column of scores: of a class, or of what a row predicts.
// As calibkit.auditing.events.
import { NEGATIVE, POSITIVE, areWords, knownPositive, sameWord, wordsIn } from "./label_words.js";
import { folded, inOrder, inPercent, listed, quoted } from "./python_words.js";
import { demandUnmixed } from "./table.js";
import { typed } from "./names.js";
import { refuse, unsure } from "./refusals.js";
import { rankSums } from "./ranks.js";

const LIKELY = 2; // standard errors
const MUCH = 5; // of the log-likelihood
const SOME = 20; // rows
const MOSTLY = 0.9; // of the labels: then no score below one half is no wonder

// -> { labels, names, told } of a score that judges the 1.
// called: what the column may be called after; positive: the label that the user calls so, or null.
export function labelsOfOne(column, called, scores, positive) {
  const words = wordsIn(demandUnmixed(column)), found = inOrder(new Set(words));
  if (positive !== null) return against(words, found, sameWord(positive, found));
  const low = called.map(folded), after = found.filter((word) => low.includes(folded(word)));
  if (found.length > 2) {
    refuse(`there is one column of scores, but the labels have ${found.length} values, `
      + `${found.slice(0, 6).join(", ")}: say which of them it is the score of, such as `
      + `--positive ${typed(after.length === 1 ? after[0] : found[0])}; of the class that a row predicts, `
      + "name the column that says it with --predicted");
  }
  const chosen = after.length ? after[0] : knownPositive(found);
  if (chosen === null) {
    refuse(`labels are ${found.join(" and ")}: say which of them the score is of, `
      + found.map((word) => `--positive ${typed(word)}`).join(" or "));
  }
  const read = against(words, found, chosen);
  demandDirection(read.labels, scores, chosen, found);
  if (!after.length || /^\d+$/.test(chosen.replace(/^[+-]+/, ""))) demandBelowHalf(read.labels, scores, chosen);
  return read;
}

function against(words, found, positive) {
  const others = found.filter((word) => word !== positive);
  const other = others.length === 1 ? others[0] : others.length ? "other" : `not ${positive}`;
  const labels = Int32Array.from(words, (word) => Number(word === positive));
  const usual = !positive || (positive === "1" && ["0", "not 1"].includes(other));
  if (usual) return { labels, names: null, told: "" };
  return { labels, names: [other, positive], told: `positive class ${quoted(positive)}` };
}

// Scores that are clearly higher where the label is the other one.
function demandDirection(labels, scores, positive, found) {
  const n = labels.length, ones = labels.reduce((sum, one) => sum + one, 0), zeros = n - ones;
  if (!ones || !zeros) return;
  const area = (rankSums(scores, labels) - (ones * (ones + 1)) / 2) / (ones * zeros);
  const sure = (area - 0.5) / Math.sqrt((n + 1) / (12 * ones * zeros)); // in standard errors
  if (!(sure < -LIKELY || (sure < LIKELY && fitsReversed(scores, labels)))) return;
  const other = found.find((word) => word !== positive);
  refuse(`the scores fit the label ${other} better (area under the ROC curve of ${positive}: `
    + `${area.toFixed(3)}): say which label they are of, --positive ${typed(other)} or --positive ${typed(positive)}`);
}

// Whether probabilities are far likelier as those of the other label.
function fitsReversed(scores, labels) {
  let sum = 0;
  for (let row = 0; row < scores.length; row += 1) {
    if (!(scores[row] >= 0 && scores[row] <= 1)) return false;
    const said = Math.min(Math.max(scores[row], 1e-3), 1 - 1e-3), odds = Math.log(said / (1 - said));
    sum += labels[row] ? odds : -odds;
  }
  return sum < -MUCH;
}

// Scores that never fall below one half, though the other label is frequent.
function demandBelowHalf(labels, scores, positive) {
  const rate = labels.reduce((sum, one) => sum + one, 0) / labels.length;
  if (scores.length < SOME || !scores.every((score) => score >= 0.5 && score <= 1) || rate >= MOSTLY) return;
  refuse(`no score is below one half, but ${inPercent(1 - rate, 0)} of the labels are not `
    + `${positive || 1}: the scores may be of what each row predicts, --predicted COLUMN, or `
    + `of one label, --positive ${typed(positive || "1")}`);
}

// 0 and 1: whether the label is the decision; without one the label says it itself.
export function hits(column, decisions) {
  const right = decisions ? sameWords(column, decisions) : wordsIn(demandUnmixed(column)).map(folded);
  if (!decisions) {
    const unknown = inOrder(new Set(right)).filter((word) => !POSITIVE.includes(word) && !NEGATIVE.includes(word));
    if (unknown.length) {
      refuse(`column ${quoted(column.name)} must say whether a row is right, by 0 and 1 or yes and no, `
        + `got ${listed(unknown.slice(0, 4))}; name another with --label`);
    }
  }
  const labels = Int32Array.from(right, (word) => Number(decisions ? word : POSITIVE.includes(word)));
  return { labels, names: ["wrong", "right"], told: "judged by whether the prediction is right" };
}

function sameWords(column, decisions) {
  let mine = wordsIn(demandUnmixed(column)), theirs = wordsIn(demandUnmixed(decisions));
  if (mine.concat(theirs).every((word) => ["0", "1", "True", "False"].includes(word))) {
    const number = (word) => ({ True: "1", False: "0" })[word] ?? word;
    [mine, theirs] = [mine.map(number), theirs.map(number)];
  }
  const set = new Set(mine), both = theirs.some((word) => set.has(word));
  if (!both) {
    const shown = (one) => (areWords(one) ? quoted(one.text(0)) : `'${wordsIn(one)[0]}'`);
    refuse(`labels, such as ${shown(column)}, and predictions, such as ${shown(decisions)}, have no value in common; `
      + "name others with --label and --predicted");
  }
  const off = mine.map((word, row) => Number(word) - Number(theirs[row]));
  const by = (step) => off.filter((one) => one === step).length / off.length;
  if (set.size > 2 && Math.max(by(1), by(-1)) > 0.5) {
    refuse("most labels differ from the predictions by 1: number both from the same class on, or "
      + "name others with --label and --predicted");
  }
  if (mine.some((word) => word === "")) unsure("Some labels are empty.");
  return mine.map((word, row) => word === theirs[row]);
}
