// Labels as places of the K columns of scores, from 0 on. As calibkit.auditing.classes.
//
//   places(column, names, matrix, first) -> Int32Array
// names: of the columns, as classes, or null. matrix: { values, n, classes }, row after row.
// first: the number of the first class, if the user says it, or null.
import { areWords, wordsIn } from "./label_words.js";
import { demandBest, demandOrder, demandPresent, demandSorted, unlessBetter } from "./orders.js";
import { folded, inOrder, listed } from "./python_words.js";
import { typed } from "./names.js";
import { refuse } from "./refusals.js";

export function places(column, names, matrix, first) {
  const { n, classes } = matrix;
  if (areWords(column)) return byWord(wordsIn(column), names);
  let numbers = Int32Array.from(wordsIn(numeric(column)), Number);
  if (first !== null) return placed(numbers, classes, first);
  const values = new Set(numbers);
  if (classes === 2 && values.size === 2 && values.has(-1) && values.has(1)) numbers = numbers.map((one) => (one + 1) / 2);
  const said = largest(matrix);
  const right = (placesOf) => placesOf.reduce((sum, place, row) => sum + (place === said[row]), 0) / n;
  const stated = wholeNames(names);
  const found = stated ? byNumber(numbers, stated, right) : byPlace(numbers, classes, names, right);
  if (!stated && names) demandSorted(found, names, right);
  demandBest(found, said, classes);
  demandPresent(found, said, classes);
  return found;
}

// True and false count as 1 and 0.
const numeric = (column) => (column.kind === "b" ? Object.assign(column.rows(column.places()), { kind: "i" }) : column);

// The column of the largest score of each row.
export function largest({ values, n, classes }) {
  return Int32Array.from({ length: n }, (_, row) => {
    let best = 0;
    for (let k = 1; k < classes; k += 1) if (values[row * classes + k] > values[row * classes + best]) best = k;
    return best;
  });
}

function byWord(words, names) {
  const found = inOrder(new Set(words));
  const order = `--classes ${typed(found.slice(0, 8).join(",") + (found.length > 8 ? ",..." : ""))}`;
  if (!names) {
    refuse(`labels are words, such as ${listed(found.slice(0, 1)).slice(1, -1)}, but the columns have no names; name the `
      + `classes in the order of the columns, such as ${order}`);
  }
  let place = new Map(names.map((name, k) => [name, k])), looked = words;
  if (!found.every((word) => place.has(word))) {
    const alike = (word) => folded(word.replaceAll("_", " ").trim());
    place = new Map(names.map((name, k) => [alike(name), k]));
    looked = words.map(alike);
  }
  const unknown = inOrder(new Set(looked)).filter((word) => !place.has(word)).slice(0, 5);
  if (unknown.length || place.size !== names.length) {
    refuse(`labels name ${listed(unknown.length ? unknown : found.slice(0, 5))}, which are none of the classes `
      + `${listed(names.slice(0, 8))}; name the classes in the order of the columns, such as ${order}`);
  }
  return Int32Array.from(looked, (word) => place.get(word));
}

const ends = (numbers) => [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];

function placed(numbers, classes, first) {
  const found = numbers.map((number) => number - first), [low, high] = ends(found);
  if (low < 0 || high >= classes) {
    refuse(`labels must lie in [${first}, ${first + classes}) for ${classes} classes from ${first} `
      + `on, got ${(low < 0 ? low : high) + first}; say --first-class with the smallest label of all classes, or leave `
      + "out rows that have no label");
  }
  return found;
}

// The place of each class whose name is a whole number, if all are.
function wholeNames(names) {
  if (!names?.every((name) => /^\d+$/.test(name.replace(/^[+-]+/, "")))) return null;
  return new Map(names.map((name, k) => [Number(name), k]));
}

// Labels that are the names of columns.
function byNumber(numbers, stated, right) {
  const classes = stated.size, [low, high] = ends(numbers), named = [...stated.keys()];
  const unknown = [...new Set(numbers)].filter((one) => !stated.has(one)).sort((a, b) => a - b).slice(0, 5);
  if (unknown.length) {
    refuse(`labels hold ${listed(unknown)}, which are none of the classes ${listed(named.map(String).slice(0, 8))}; `
      + firstOption(low, high, classes));
  }
  const found = numbers.map((number) => stated.get(number));
  if (named.some((number, k) => number !== k)) {
    return unlessBetter(found, low >= 0 && high < classes ? [numbers] : [], right, low);
  }
  return unlessShifted(found, right);
}

// Labels that are places of columns, from 0 on.
function byPlace(numbers, classes, names, right) {
  const [low, high] = ends(numbers);
  if (low < 0 || high >= classes) {
    refuse(`labels must lie in [0, ${classes}) for ${classes} classes, got ${low < 0 ? low : high}; `
      + firstOption(low, high, classes));
  }
  if (classes === 2 && names) demandOrder(numbers, names, right);
  return unlessShifted(numbers, right);
}

// The option that helps, where labels leave the range of the columns.
function firstOption(low, high, classes) {
  if (low >= 0 && high - low < classes) return `if ${low} is the first class, say --first-class ${low}`;
  return "say which number the first class has, with --first-class, name the column of labels with "
    + "--label, or leave out rows that have no label";
}

// Labels from 1 on, of which neither 0 nor K stands in the file, may be shifted by one.
function unlessShifted(found, right) {
  return ends(found)[0] !== 1 ? found : unlessBetter(found, [found.map((place) => place - 1)], right, 1, true);
}
