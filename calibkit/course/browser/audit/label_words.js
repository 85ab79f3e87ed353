// Labels as words, and which of two words is the positive one.
import { folded, quoted, shortNumber } from "./python_words.js";
import { refuse } from "./refusals.js";

export const POSITIVE = ["1", "yes", "true", "positive", "pos", "y", "t", "+1", "+"];
export const NEGATIVE = ["0", "no", "false", "negative", "neg", "n", "f", "-1", "-"];

// Whether labels are words, neither numbers nor true and false.
export const areWords = (column) => column.kind === "O";

// A label as a word: whole numbers of any kind alike.
export function wordAt(column, row) {
  if (areWords(column)) return column.words[row].trim();
  if (column.kind === "b") return column.text(row);
  const number = column.numbers[row];
  if (!Number.isInteger(number)) {
    refuse(`labels must be whole numbers or words, got ${shortNumber(number, 6)}; name their column with --label`);
  }
  return String(number);
}

// The words of a column, row by row.
export const wordsIn = (column) => column.places().map((row) => wordAt(column, row));

// Which of two labels is surely the positive one, or null; a single one may be either ("" for a
// single negative one).
export function knownPositive(found) {
  const low = found.map(folded);
  if (found.length === 1) return POSITIVE.includes(low[0]) ? found[0] : NEGATIVE.includes(low[0]) ? "" : null;
  const pairs = [...POSITIVE.map((yes, place) => [yes, NEGATIVE[place]]), ["1", "-1"]];
  for (const [yes, no] of pairs) {
    if (low.length === 2 && low.includes(yes) && low.includes(no)) return found[low.indexOf(yes)];
  }
  return null;
}

// The label that the user calls positive.
export function sameWord(word, found) {
  const exact = found.filter((other) => other === word);
  const alike = exact.length ? exact : found.filter((other) => folded(other) === folded(word.trim()));
  if (alike.length === 1) return alike[0];
  return refuse(`--positive must be one of the labels [${found.slice(0, 8).map(quoted).join(", ")}], got ${quoted(word)}`);
}
