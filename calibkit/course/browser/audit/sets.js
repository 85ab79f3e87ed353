// Sets of columns that may be the scores of all classes, and columns that alone may be scores.
// As calibkit.auditing.sets. words: the labels in small letters.
import { bare, classOf, isOdd, isSure, ofTop, parted, scoresOption, shortList, standsBeside, statedKind } from "./names.js";
import { CORRECT_NAMES, DECISION_NAMES, EITHER_NAMES, LABEL_NAMES, MAYBE_LABEL_NAMES, SCORE_NAMES } from "./name_words.js";
import { fallFromLeftToRight, onSimplex, repeats, sumToOne } from "./simplex.js";
import { holdsBinary, holdsFractions, isNumber } from "./table.js";
import { folded, quoted } from "./python_words.js";
import { refuse } from "./refusals.js";

const MOST_WORDS = 10_000; // labels that are compared with columns
const digits = (text) => /^\d+$/.test(text);
const lastWord = (name) => name.slice(name.lastIndexOf("_") + 1);

// -> [{ columns, ofClasses }], all that may be the scores
export function readings(table, labels, left) {
  const words = wordsOf(labels), of = (name) => table.of(name);
  const numbers = left.filter((name) => isNumber(of(name)));
  const able = numbers.filter((name) => !isNoScore(of(name), words));
  const families = familiesOf(table, able, words);
  demandWhole(left, families, numbers);
  const inside = new Set(families.flat());
  const rest = able.filter((name) => !inside.has(name) && !isSure(name) && !isOdd(name));
  const sets = families.flatMap((columns) => ofFamily(table, columns, words));
  sets.push(...simplexes(table, rest, words));
  sets.push(...withRest(table, sets, rest, words));
  const single = able.filter((name) => !inside.has(name) && isSingle(of(name), words)
    && !sets.some(({ columns }) => columns.includes(name))
    && !sets.some(({ columns }) => repeats(table, name, columns)));
  return [...sets, ...single.map((name) => ({ columns: [name], ofClasses: false }))];
}

function wordsOf(labels) {
  const texts = new Set();
  for (const row of labels.filled()) {
    texts.add(labels.text(row));
    if (texts.size >= MOST_WORDS) break;
  }
  return new Set([...texts].map((text) => folded(text.trim())));
}

// Sets that are called alike: p_cat and p_dog, logit0 and logit1, or 0, 1 and 2.
function familiesOf(table, columns, words) {
  const groups = new Map(), add = (key, name) => groups.set(key, [...(groups.get(key) ?? []), name]);
  for (const name of columns) {
    const part = parted(name), at = name.lastIndexOf("_");
    if (digits(name.trim())) add("", name);
    else if (part && !isSure(name)) add(part.family, name);
    else if (at > 0 && words.has(folded(lastWord(name)))) add(name.slice(0, at + 1), name);
  }
  const called = columns.filter((name) => words.has(folded(name.trim())));
  const inside = new Set([...groups.values()].flat());
  if (called.length > 1 && !called.some((name) => inside.has(name))) groups.set("called", called);
  // whole numbers may be labels of their own, unless they sum to 1 or 100
  const live = (group) => group.some((name) => table.of(name).kind === "f") || sumToOne(table, group);
  return [...groups.values()].filter((group) => group.length > 1 && live(group));
}

// A family of which one column holds no numbers.
function demandWhole(left, families, numbers) {
  const known = new Map(families.map((columns) => [statedKind(columns), columns]));
  known.delete(null);
  for (const name of left) {
    if (!parted(name) || numbers.includes(name) || !known.has(statedKind([name]))) continue;
    refuse(`column ${quoted(name)} holds no numbers but is called like the scores `
      + `${shortList(known.get(statedKind([name])))}: mend it, or say which are the scores with --scores`);
  }
}

// A family, or the neighbours in it whose rows sum to 1 or 100.
function ofFamily(table, columns, words) {
  if (ofTop(columns)) return [];
  const runs = simplexes(table, columns, words);
  if (runs.length) return runs;
  demandClasses(table, columns, words);
  const numbered = columns.filter((name) => digits(classOf(name)));
  const plain = numbered.length > 1 ? numbered : columns.filter((name) => !isOdd(name));
  if (!plain.length) return [];
  const outside = columns.some((name) => table.of(name).numbers.some((value) => value < 0 || value > 1));
  const two = plain.length > 1 && plain.length < columns.length && outside;
  return (two ? [plain, columns] : [columns])
    .map((reading) => ({ columns: reading, ofClasses: areCalled(reading, words) }));
}

function simplexes(table, columns, words) {
  return onSimplex(table, columns).map((run) => {
    demandClasses(table, run, words);
    return { columns: run, ofClasses: true };
  });
}

// Columns that are rather the k best scores of each row.
function demandClasses(table, columns, words) {
  if (columns.length < 3 || areCalled(columns, words)) return;
  const numbered = columns.every((name) => digits(classOf(name)));
  const order = numbered ? [...columns].sort((a, b) => Number(classOf(a)) - Number(classOf(b))) : columns;
  if (fallFromLeftToRight(table, order)) refuse(bestOf(columns));
}

// Columns called after the labels, and all others: a class that no label names may be there.
function withRest(table, sets, rest, words) {
  if (sets.length !== 1 || !rest.length || sumToOne(table, sets[0].columns)) return [];
  const named = new Set(sets[0].columns.map((name) => folded(name.trim())));
  if (![...words].every((word) => named.has(word))) return [];
  const whole = new Set([...sets[0].columns, ...rest.filter((name) => holdsFractions(table.of(name)))]);
  const both = table.names.filter((name) => whole.has(name));
  return both.length > sets[0].columns.length ? [{ columns: both, ofClasses: true }] : [];
}

export function bestOf(columns) {
  return `the scores ${shortList(columns)} fall from left to right in every row, as the k best of `
    + `more classes do: if they are all classes, say ${scoresOption(columns)}; if the first is `
    + `how sure a prediction is, say ${scoresOption(columns.slice(0, 1))} --predicted COLUMN`;
}

// Whether all labels are words, not numbers, that columns are called after.
function areCalled(columns, words) {
  const called = new Set(columns.flatMap((name) => [name.trim(), classOf(name), lastWord(name)].map(folded)));
  const all = [...words];
  return all.every((word) => called.has(word)) && !all.every((word) => digits(word.replace(/^[+-]+/, "")));
}

// Whether its name says that it is something else, and it holds nothing that contradicts.
function isNoScore(column, words) {
  const name = bare(column.name);
  if (EITHER_NAMES.has(name)) return !holdsFractions(column);
  if (words.has(folded(column.name.trim())) || words.has(folded(classOf(column.name)))) return false;
  if (standsBeside(column.name) || DECISION_NAMES.has(name) || CORRECT_NAMES.has(name)) return true;
  return (LABEL_NAMES.has(name) || MAYBE_LABEL_NAMES.has(name)) && !holdsFractions(column);
}

// Whether one column alone may be the scores, by its name.
export function isSingle(column, words) {
  const name = bare(column.name), part = parted(column.name);
  if (isSure(column.name) || part?.family.includes("conf")) return false;
  const after = words.has(folded(classOf(column.name)));
  if (isOdd(column.name) && !after) return SCORE_NAMES.has(name);
  if (words.has(folded(column.name.trim())) || SCORE_NAMES.has(name) || EITHER_NAMES.has(name)) return true;
  if (!part || holdsBinary(column)) return false; // neither decisions nor whatever score_x may be
  return statedKind([column.name]) !== null || ((after || digits(part.of)) && holdsFractions(column));
}
