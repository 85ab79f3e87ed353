// Labels as words, and which of two words is the positive one.
import { folded } from "./python_words.js";
import { demandUnmixed } from "./table.js";
import { unsure } from "./refusals.js";

export const POSITIVE = ["1", "yes", "true", "positive", "pos", "y", "t", "+1", "+"];
export const NEGATIVE = ["0", "no", "false", "negative", "neg", "n", "f", "-1", "-"];

// A label as a word: whole numbers of any kind alike.
export function wordAt(column, row) {
  if (column.words) {
    const word = column.words[row].trim();
    return /^[+-]?\d+(\.0*)?$/.test(word) ? unsure("Labels are numbers among words.") : word;
  }
  return column.kind === "b" ? column.text(row) : String(column.numbers[row]);
}

// The words of all rows that have one.
export const wordsIn = (column) => demandUnmixed(column).filled().map((row) => wordAt(column, row));

// Which of two labels is surely the positive one, or null.
export function knownPositive(found) {
  const low = found.map(folded), pairs = [...POSITIVE.map((yes, place) => [yes, NEGATIVE[place]]), ["1", "-1"]];
  const pair = pairs.find((both) => low.length === 2 && both.every((word) => low.includes(word)));
  return pair ? found[low.indexOf(pair[0])] : null;
}

// Whether it says right or wrong.
export const isMark = (column) => column.filled().length > 0
  && [...new Set(wordsIn(column).map((word) => word.toLowerCase()))]
    .every((word) => ["1", "yes", "true", "0", "no", "false"].includes(word));
