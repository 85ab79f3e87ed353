// Which columns are labels and scores: what the convention takes unasked, and not all of that. What
// is not clear is asked, with three lists. As calibkit.auditing.columns.
import { CONFIDENCE_NAMES, CORRECT_NAMES, LABEL_NAMES, SCORE_NAMES, WRONG_NAMES } from "./names.js";
import { ask, unsure } from "./refusals.js";
import { bare, isMark, isOfParts, judged, unrevised, wordsIn } from "./names.js";
import { holdsBinary, holdsFractions, isNumber } from "./table.js";
import { quoted } from "./python_words.js";

const MOST_VALUES = 50; // of a column that may be labels
const WHICH = "Which columns hold the scores: one for each class, or one, and of which class?";

// -> { label, scores, classes, answers }; classes: the labels that the columns are called after.
export function chosen(table, asked) {
  const label = asked.label ?? labelAmong(table, asked.groups);
  for (const name of [label, asked.groups, ...(asked.scores ?? [])]) {
    if (name !== null && !table.of(name)) unsure(`There is no column ${quoted(name)}.`);
  }
  const column = table.of(label), words = [...new Set(wordsIn(column))], mark = CORRECT_NAMES.has(bare(label));
  const free = table.names.filter((name) => name !== label && name !== asked.groups);
  if (WRONG_NAMES.has(bare(label)) || bare(label) === "score" || holdsFractions(column) || (mark && !isMark(column))
    || free.some((name) => CORRECT_NAMES.has(bare(name)) || (bare(name) === "score" && holdsBinary(table.of(name))))) {
    unsure("What says which answers are right, and of what, is not clear to this page.");
  }
  if (mark && asked.positive !== null) unsure(`Whether ${quoted(label)} is an event is not clear to this page.`);
  const numeric = (asked.scores ?? free).filter((name) => isNumber(table.of(name)));
  const set = asked.positive === null ? setOf(table, numeric, words) : null;
  if (set) {
    if (mark || (asked.scores && set.scores.join() !== asked.scores.join())) unsure("Not all scores belong to classes.");
    return { label, ...set, answers: false };
  }
  if (!mark && asked.positive === null && judged(label, words)) {
    unsure(`${quoted(label)} may say which answers are right, or which class each row has. The command asks.`);
  }
  if (asked.scores?.length > 1) unsure("The columns of scores are not called after the labels.");
  const able = asked.scores ? numeric : numeric.filter((name) => isCalled(name, words));
  const askScores = (...lists) => ask(WHICH, { label, scores: able.join(",") }, ...lists);
  if (able.length !== 1 || !holdsFractions(table.of(able[0]))) askScores("scores", "positive");
  const known = SCORE_NAMES.has(bare(able[0])) || (mark && CONFIDENCE_NAMES.has(bare(able[0])));
  if (!known && (!asked.scores || asked.positive === null)) askScores("scores", "positive");
  return { label, scores: able, classes: null, answers: mark };
}

function labelAmong(table, groups) {
  const free = table.names.filter((name) => name !== groups && !holdsFractions(table.of(name)));
  const [named, marks] = [LABEL_NAMES, CORRECT_NAMES].map((own) => free.filter((name) => own.has(unrevised(name))));
  const [one, ...more] = [...named, ...marks];
  return one && !more.length ? one : askLabel();
}

const askLabel = () => ask("Which column holds the labels?", {}, "label", "scores", "positive");

// Of scores that fit their labels no better than by chance: asks where another column may hold the labels.
export function demandLabel(others, groups) {
  const values = (column) => new Set(column.filled().map((row) => column.text(row))).size;
  const maybe = (column) => column.name !== groups && !SCORE_NAMES.has(bare(column.name)) && !holdsFractions(column)
    && values(column) > 1 && values(column) <= MOST_VALUES;
  if (others.some(maybe)) askLabel();
}

// Whether a column is called as scores are, alone or with a label.
function isCalled(name, words) {
  const text = name.toLowerCase();
  return CONFIDENCE_NAMES.has(bare(name)) || SCORE_NAMES.has(bare(name)) || isOfParts(name)
    || words.some((word) => text.includes(word.toLowerCase()) && isOfParts(text.replaceAll(word.toLowerCase(), " ")));
}

// The one set of columns that are called after all labels, beside the same words; null if there is none.
function setOf(table, numeric, words) {
  const lower = words.map((word) => word.toLowerCase()), sets = new Map();
  if (lower.length < 2 || lower.length > numeric.length || new Set(["", ...lower]).size <= lower.length) return null;
  const named = new Map(numeric.map((name) => [name.trim().toLowerCase(), name]));
  for (const name of named.keys()) {
    for (let at = name.indexOf(lower[0]); at >= 0; at = name.indexOf(lower[0], at + 1)) {
      const before = name.slice(0, at), after = name.slice(at + lower[0].length);
      const own = lower.map((word) => named.get(before + word + after));
      if (own.every((column) => column !== undefined)) sets.set(`${before}\0${after}`, own);
    }
  }
  if (!sets.size) return null;
  const [[template, own]] = sets, [before, after] = template.split("\0");
  const digits = lower.every((word) => /^\d+$/.test(word)), alone = !before && !after;
  const apart = (text, end) => !text || end.test(text) || (digits && /\p{L}$/u.test(text) && text === before);
  const rest = numeric.filter((name) => !own.includes(name)).map((name) => name.toLowerCase());
  const middle = (name) => name.trim().slice(before.length, name.trim().length - after.length);
  const fits = (name) => (!digits || /^\d+$/.test(middle(name))) && name.length > before.length + after.length
    && name.startsWith(before) && name.endsWith(after);
  const whole = alone ? numeric.filter((name) => own.includes(name))
    : numeric.filter((name) => own.includes(name) || fits(name.trim().toLowerCase()));
  const sums = sumToOne(table, own), wider = whole.length > own.length;
  if (sets.size > 1 || (alone && digits) || !isOfParts(`${before} ${after}`) || !apart(before, /[^\p{L}\p{N}]$/u)
    || !apart(after, /^[^\p{L}\p{N}]/u) || lower.every((word) => rest.some((name) => name.includes(word)))
    || (wider && (sums || (!digits && !sumToOne(table, whole)))) || (alone && !sums && rest.length)) {
    unsure("Which columns belong to the labels is not clear to this page.");
  }
  const called = (name) => words[own.indexOf(name)] ?? (digits ? String(Number(middle(name))) : middle(name));
  return { scores: whole, classes: whole.map(called) };
}

function sumToOne(table, names) {
  const columns = names.map((name) => table.of(name).numbers);
  return columns[0].every((_, row) => {
    const sum = columns.reduce((total, column) => total + column[row], 0);
    return Number.isNaN(sum) || Math.abs(sum - 1) < 1e-3;
  });
}
