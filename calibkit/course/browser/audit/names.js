// What the name of a column, and a label, says: the rules of calibkit.auditing.names, by its lists.
import { folded } from "./python_words.js";
import { unsure } from "./refusals.js";

const setOf = (list) => new Set(NAMES[list]); // NAMES stands before the script: see browser.audit
export const LABEL_NAMES = setOf("LABELS");
export const CORRECT_NAMES = setOf("CORRECT");
export const WRONG_NAMES = setOf("WRONG");
export const CONFIDENCE_NAMES = setOf("CONFIDENCES");
export const SCORE_NAMES = setOf("SCORES");
export const PART_WORDS = setOf("PARTS");
export const SPLIT_WORDS = setOf("SPLITS");
export const POSITIVE = NAMES.POSITIVE;

// A name in small letters, all that parts its words an underscore.
export function bare(name) {
  return name.trim().toLowerCase().replace(/[^\p{L}\p{N}_%]+/gu, "_").replace(/^_+|_+$/g, "");
}

// That without words such as clean and corrected.
export const unrevised = (name) => bare(name).split("_").filter((word) => !NAMES.REVISED.includes(word)).join("_");

// The words of a name, without numbers.
const partsOf = (name) => bare(name).replace(/log_?p(rob)?s?(?=_|$|[0-9])/g, "logprob")
  .split(/[_\d]+/).filter(Boolean);

// Whether a name is of words that stand beside a class.
export const isOfParts = (name) => partsOf(name).every((word) => PART_WORDS.has(word));

// Whether a column is called as what a model decides, or as ranks.
export const decides = (name) => partsOf(name).some((word) => NAMES.DECISIONS.includes(word)) || /^[IU]_/.test(name);
export const ranks = (name) => partsOf(name).some((word) => NAMES.RANKS.includes(word));

// The kind of scores that all names state, or null.
export function statedKind(names) {
  const all = names.map(partsOf);
  return Object.keys(NAMES.KINDS)
    .find((kind) => all.every((own) => own.some((word) => NAMES.KINDS[kind].includes(word)))) ?? null;
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
  const low = labels.map(folded), pairs = [...POSITIVE.map((yes, place) => [yes, NAMES.NEGATIVE[place]]), ["1", "-1"]];
  const pair = pairs.find((both) => low.length === 2 && both.every((word) => low.includes(word)));
  return pair ? labels[low.indexOf(pair[0])] : null;
}

// Whether labels say right or wrong: by words such as pass and fail, or by the column's name.
export function judged(name, labels) {
  const low = new Set(labels.map(folded)), said = [...NAMES.JUDGED, ...NAMES.WRONGED];
  const named = partsOf(name).some((part) => said.includes(part));
  const letters = named && low.has("a") && low.has("b") && (low.size === 2 || low.has("c")); // of a grader
  return low.size <= 3 && (letters || POSITIVE.some((yes, place) => low.has(yes) && low.has(NAMES.NEGATIVE[place])
    && (named || NAMES.RIGHT.includes(yes))));
}

// Whether of two classes the first is the event: 1 before 0, yes before no, 2 before 1.
export function eventFirst(classes) {
  const numbers = classes.every((word) => /^[+-]?\d+$/.test(word));
  return numbers ? Number(classes[0]) > Number(classes[1]) : knownPositive(classes) === classes[0];
}

// Whether it says right or wrong.
export const isMark = (column) => column.filled().length > 0
  && wordsIn(column).every((word) => ["1", "yes", "true", "0", "no", "false"].includes(word.toLowerCase()));
