// Which columns are labels and scores: what the convention takes unasked, and not all of that. What
// is not clear is left to the command. As calibkit.auditing.reading.
import { CONFIDENCE_NAMES, CORRECT_NAMES, LABEL_NAMES, SCORE_NAMES, WRONG_NAMES } from "./name_words.js";
import { bare, isOfParts, typed } from "./names.js";
import { holdsBinary, holdsFractions, isNumber } from "./table.js";
import { isMark, wordsIn } from "./label_words.js";
import { quoted } from "./python_words.js";
import { refuse, unsure } from "./refusals.js";

const LEFT = "What is what in this file is not clear to this page";

// -> { label, scores, classes, answers }; classes: the labels that the columns are called after.
export function chosen(table, asked) {
  const label = asked.label ?? labelAmong(table, asked.groups);
  for (const name of [label, asked.groups, ...(asked.scores ?? [])]) {
    if (name !== null && !table.of(name)) unsure(`There is no column ${quoted(name)}.`);
  }
  const column = table.of(label), words = [...new Set(wordsIn(column))], mark = CORRECT_NAMES.has(bare(label));
  const left = asked.scores ?? table.names.filter((name) => name !== label && name !== asked.groups);
  const others = table.names.filter((name) => name !== label && name !== asked.groups && CORRECT_NAMES.has(bare(name)));
  if (WRONG_NAMES.has(bare(label)) || bare(label) === "score" || holdsFractions(column) || (mark && !isMark(column))
    || others.length || table.names.some((name) => bare(name) === "score" && holdsBinary(table.of(name)))) {
    unsure(`${LEFT}: the labels.`);
  }
  if (mark && asked.positive !== null) unsure(`${LEFT}: whether ${quoted(label)} is an event.`);
  const numeric = left.filter((name) => isNumber(table.of(name)));
  const set = asked.positive === null ? setOf(table, numeric, words) : null;
  if (set) {
    if (mark || (asked.scores && set.scores.join() !== asked.scores.join())) unsure(`${LEFT}: the scores.`);
    return { label, ...set, answers: false };
  }
  const able = numeric.filter((name) => isCalled(name, words));
  if (able.length !== 1 || (asked.scores && asked.scores.length !== 1)) unsure(`${LEFT}: the scores.`);
  const sure = CONFIDENCE_NAMES.has(bare(able[0]));
  if (!(SCORE_NAMES.has(bare(able[0])) || (sure && mark)) || !holdsFractions(table.of(able[0])) || (sure && !mark)) {
    unsure(`${LEFT}: what ${quoted(able[0])} is.`);
  }
  return { label, scores: able, classes: null, answers: mark };
}

function labelAmong(table, groups) {
  const free = table.names.filter((name) => name !== groups && !holdsFractions(table.of(name)));
  const [named, marks] = [LABEL_NAMES, CORRECT_NAMES].map((own) => free.filter((name) => own.has(bare(name))));
  const held = new Set(named.map((name) => wordsIn(table.of(name)).join("\0")));
  if (named.length > 1 && !marks.length && held.size === named.length) {
    const all = named.map((name) => new Set(wordsIn(table.of(name))).size);
    if (all.every((count) => count > 1)) {
      refuse(`the labels may be ${named.map(quoted).join(" or ")}, which differ: say which with `
        + named.map((name) => `--label ${typed(name)}`).join(" or "));
    }
  }
  return named.length + marks.length === 1 ? [...named, ...marks][0] : unsure(`${LEFT}: the labels.`);
}

// Whether a column is called as scores are, alone or with a label.
function isCalled(name, words) {
  const text = name.toLowerCase();
  return CONFIDENCE_NAMES.has(bare(name)) || SCORE_NAMES.has(bare(name)) || isOfParts(name)
    || words.some((word) => text.includes(word.toLowerCase()) && isOfParts(text.replaceAll(word.toLowerCase(), " ")));
}

// The one set of columns that are called after all labels, beside the same words; null if there is none.
function setOf(table, numeric, words) {
  const lower = words.map((word) => word.toLowerCase()), found = new Map();
  if (lower.length < 2 || new Set(lower).size < lower.length || lower.length > numeric.length) return null;
  const named = new Map(numeric.map((name) => [name.trim().toLowerCase(), name]));
  for (const name of named.keys()) {
    for (let at = name.indexOf(lower[0]); at >= 0; at = name.indexOf(lower[0], at + 1)) {
      const before = name.slice(0, at), after = name.slice(at + lower[0].length);
      const own = lower.map((word) => named.get(before + word + after));
      if (own.every((column) => column !== undefined)) found.set(`${before}\0${after}`, own);
    }
  }
  if (!found.size) return null;
  const [[template, own]] = found, [before, after] = template.split("\0");
  const digits = lower.every((word) => /^\d+$/.test(word)), alone = !before && !after;
  const apart = (text, end) => !text || end.test(text) || (digits && /\p{L}$/u.test(text) && text === before);
  if (found.size > 1 || (alone && digits) || !isOfParts(`${before} ${after}`) || !apart(before, /[^\p{L}\p{N}]$/u)
    || !apart(after, /^[^\p{L}\p{N}]/u)) unsure(`${LEFT}: the scores.`);
  const rest = numeric.filter((name) => !own.includes(name)).map((name) => name.toLowerCase());
  if (lower.every((word) => rest.some((name) => name.includes(word)))) unsure(`${LEFT}: the scores.`);
  const fits = (name) => (!digits || /^\d+$/.test(name.slice(before.length, name.length - after.length)))
    && name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
  const more = alone ? own : numeric.filter((name) => own.includes(name) || fits(name.trim().toLowerCase()));
  const whole = numeric.filter((name) => more.includes(name));
  const sums = sumToOne(table, own), wider = more.length > own.length;
  const unlike = wider && (sums || (!digits && !sumToOne(table, whole)));
  if (unlike || (alone && !sums && rest.length)) unsure(`${LEFT}: the scores.`);
  const called = (name) => words[own.indexOf(name)]
    ?? (digits ? String(Number(name.trim().slice(before.length, name.trim().length - after.length)))
      : name.trim().slice(before.length, name.trim().length - after.length));
  return { scores: whole, classes: whole.map(called) };
}

function sumToOne(table, names) {
  const columns = names.map((name) => table.of(name).numbers);
  return columns[0].every((_, row) => {
    const sum = columns.reduce((total, column) => total + column[row], 0);
    return Number.isNaN(sum) || Math.abs(sum - 1) < 1e-3;
  });
}
