// Numbers as labels are refused where another order of the classes, or another first class, may
// be meant. right(places): the share of rows whose largest score stands there.
import { NEGATIVE, POSITIVE } from "./label_words.js";
import { folded, inOrder, inPercent } from "./python_words.js";
import { refuse, unsure } from "./refusals.js";

const CLEAR = 4; // standard errors
const MOST_ORDERED = 300; // classes of which other orders are tried
const ENOUGH = 20; // rows a class, so that no class is missing by chance
const MOST_ABSENT = 0.2; // of the rows may be predicted as classes that no label names

// Names that are not in the order in which others number them.
export function demandSorted(places, names, right) {
  const sorted = inOrder(names);
  if (names.every((name, k) => name === sorted[k])) return;
  const other = sorted.map((name) => names.indexOf(name));
  const mine = right(places), theirs = right(places.map((place) => other[place]));
  if (mine > theirs + (CLEAR * 0.7) / Math.sqrt(places.length)) return;
  refuse(`labels are numbers and the columns ${names.slice(0, 6).join(", ")} are in no order of the `
    + `alphabet: read in the order of the columns the model is right on ${inPercent(mine)}, in that `
    + `of the alphabet on ${inPercent(theirs)}. Say --first-class 0 for the first, or name the `
    + "columns in the order of the labels: --scores COLUMN_OF_0,COLUMN_OF_1,...");
}

// Numbers that may fit the columns far better in another order. How well the best order fits, the
// command finds; here no order can do better than the largest entry of each row, or column.
export function demandBest(places, said, classes) {
  const n = places.length, mine = places.reduce((sum, place, row) => sum + (place === said[row]), 0) / n;
  if (mine >= 0.5 || n < 5 * classes || classes > MOST_ORDERED) return;
  const pairs = new Float64Array(classes * classes);
  places.forEach((place, row) => { pairs[place * classes + said[row]] += 1; });
  const each = Array.from({ length: classes }, (_, k) => k);
  const most = (at) => each.reduce((sum, a) => sum + Math.max(...each.map((b) => pairs[at(a, b)])), 0) / n;
  const best = Math.min(most((a, b) => a * classes + b), most((a, b) => b * classes + a));
  if (best > mine + 0.1 + 1.5 / Math.sqrt(n)) {
    unsure(`Labels are numbers, and in the order of the columns the model is right on ${inPercent(mine)} only: `
      + "they may stand in another order. First class 0 (--first-class 0) says that the order is right.");
  }
}

// Numbers of which the model's most frequent classes are missing.
export function demandPresent(places, said, classes) {
  const present = [...new Set(places)].sort((a, b) => a - b), known = new Set(present);
  if (present.length === classes || places.length < ENOUGH * classes) return;
  const absent = said.reduce((sum, place) => sum + !known.has(place), 0) / places.length;
  if (absent <= MOST_ABSENT) return;
  refuse(`the labels are ${present.slice(0, 6).join(", ")}, but in ${inPercent(absent, 0)} of the `
    + `rows the model predicts another of the ${classes} classes: name the column of their `
    + "labels with --label, or say --first-class 0 if they count from 0");
}

// Labels of which another reading is right more often, or as often. absent: whether the other
// reading is likely enough to be refused where neither is clear.
export function unlessBetter(places, others, right, low, absent = false) {
  const n = places.length, mine = right(places);
  for (const other of others) {
    const theirs = right(other);
    const error = Math.sqrt(Math.max(mine * (1 - mine) + theirs * (1 - theirs), 1 / n) / n);
    if (theirs <= mine + CLEAR * error && !(absent && mine <= theirs + CLEAR * error)) continue;
    refuse(`labels begin with ${low} and may count from 0 or from ${low}: read from 0 the `
      + `model is right on ${inPercent(absent ? mine : theirs)}, from ${low} on `
      + `${inPercent(absent ? theirs : mine)}. Say --first-class 0 or --first-class ${low}`);
  }
  return places;
}

// 0 and 1 beside the columns yes, no, or where their other order is right more often.
export function demandOrder(numbers, names, right) {
  const words = names.map((name) => folded(name.trim()));
  const swapped = POSITIVE.includes(words[0]) || NEGATIVE.includes(words[1]);
  const mine = right(numbers), error = 0.5 / Math.sqrt(numbers.length);
  if (!swapped && mine >= 0.5 - CLEAR * error) return;
  refuse(`labels are 0 and 1 but the columns ${names.join(", ")}: with ${names[0]} as 0 the `
    + `model is right on ${inPercent(mine)}. Say --first-class 0 if it is so, or name the columns `
    + "in the order of the labels: --scores COLUMN_OF_0,COLUMN_OF_1");
}
