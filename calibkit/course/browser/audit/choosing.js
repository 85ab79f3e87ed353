// Which columns are labels and scores: one clear reading, or a question with the option that
// decides. As calibkit.auditing.columns.
import { bare, isSure, ofTop, parted, scoresOption, shortList, standsBeside, typed } from "./names.js";
import { CORRECT_NAMES, LABEL_NAMES, MAYBE_LABEL_NAMES, WRONG_NAMES } from "./name_words.js";
import { holdsBinary, holdsFractions, isNumber } from "./table.js";
import { bestOf, readings } from "./sets.js";
import { confidenceColumn, demandAgreement, demandSaid, ofDecisions } from "./decisions.js";
import { listed, quoted } from "./python_words.js";
import { refuse } from "./refusals.js";

// -> { label, scores, ofClasses, predicted, event }
// asked: what the user says: label, scores, predicted, groups, positive, or null each.
export function chosen(table, asked) {
  const taken = asked.groups === null ? [] : [asked.groups];
  demandColumns(table, [asked.label, asked.predicted, ...taken]);
  const named = asked.scores && expanded(table, asked.scores);
  const free = table.names.filter((name) => !taken.includes(name) && !named?.includes(name));
  const label = asked.label ?? labelAmong(table, free, asked.predicted);
  const part = table.rows(table.of(label).filled());
  if (named) return asNamed(part, label, named, asked);
  const left = free.filter((name) => name !== label && name !== asked.predicted);
  const found = (scores, more = {}) => ({ label, scores, ofClasses: false, predicted: null, event: false, ...more });
  if (asked.predicted !== null) {
    return found([confidenceColumn(part, left)], { predicted: asked.predicted, event: true });
  }
  const sets = readings(part, part.of(label), left);
  if (sets.length > 1) refuse(between(sets.map(({ columns }) => columns)));
  if (!sets.length) {
    if (!left.some((name) => isSure(name) && isNumber(part.of(name)))) refuse(nothingClear(part, left));
    return { ...found([]), ...ofDecisions(part, label, left) };
  }
  const [{ columns, ofClasses }] = sets, lonely = columns.length === 1;
  const event = CORRECT_NAMES.has(bare(label)) && lonely;
  if (lonely && !event && asked.positive === null) demandAgreement(part, label, left, columns[0]);
  return found(columns, { ofClasses, event });
}

function asNamed(table, label, named, { predicted, positive }) {
  if (WRONG_NAMES.has(bare(label)) && isSure(named[0])) refuseWrong(label);
  const lonely = named.length === 1, event = lonely && (predicted !== null || CORRECT_NAMES.has(bare(label)));
  if (lonely && !event && positive === null) demandSaid(table, label, named[0]);
  return { label, scores: named, ofClasses: !lonely, predicted: lonely ? predicted : null, event };
}

function demandColumns(table, names) {
  for (const name of names) {
    if (name !== null && !table.of(name)) refuse(`no column ${quoted(name)} among ${listed(table.names.slice(0, 12))}`);
  }
}

// The columns that the user names, also as p_* for all that begin with p_.
function expanded(table, asked) {
  const names = asked.flatMap((name) => {
    if (!name.endsWith("*") || table.of(name)) return [name];
    const all = table.names.filter((other) => other.startsWith(name.slice(0, -1)));
    return all.length ? all : [name];
  });
  demandColumns(table, names);
  for (const name of names) {
    const column = table.of(name);
    if ("if".includes(column.kind)) continue;
    const example = column.filled().slice(0, 1).map((row) => column.text(row));
    refuse(`column ${quoted(name)} of scores holds no numbers, but such as `
      + `${column.kind === "b" ? `[${example}]` : listed(example)}`);
  }
  return names;
}

// --- labels ---

function labelAmong(table, free, predicted) {
  for (const usual of [LABEL_NAMES, MAYBE_LABEL_NAMES, CORRECT_NAMES]) {
    const found = free.filter((name) => usual.has(bare(name)) && name !== predicted && !holdsFractions(table.of(name)));
    if (found.length === 1 || (found.length > 1 && allEqual(table, found))) return found[0];
    if (found.length) {
      refuse(`the labels may be ${found.map(quoted).join(" or ")}, which differ: say which with `
        + found.map((name) => `--label ${typed(name)}`).join(" or "));
    }
  }
  const many = free.filter((name) => /^(label|labels|y|true|y_true|target|gt|truth)_(?!prob|score|pred|hat)/.test(name)
    && holdsBinary(table.of(name)));
  if (many.length > 1) {
    refuse(`there are labels in ${many.length} columns, ${shortList(many)}: audit one of them at a `
      + `time, such as --label ${typed(many[0])} ${besideLabel(table, many[0])}`);
  }
  for (const name of free) if (WRONG_NAMES.has(bare(name))) refuseWrong(name);
  const soft = free.find((name) => LABEL_NAMES.has(bare(name)) && holdsFractions(table.of(name)));
  const why = soft === undefined ? "" : ` (${quoted(soft)} holds fractions, which are no labels)`;
  return refuse(`no column of labels among ${shortList(table.names)}${why}: name it with --label COLUMN`);
}

// Labels that say the opposite of correct: a score would be read the wrong way.
function refuseWrong(name) {
  refuse(`column ${quoted(name)} says which rows are wrong: write it the other way round, 1 where the `
    + "prediction is right, and call it 'correct'");
}

function besideLabel(table, label) {
  const own = label.replace(/^(labels?|y_true|y|true|target|gt|truth)_/, "");
  const like = table.names.filter((name) => name !== label && name.endsWith(own) && !holdsBinary(table.of(name)));
  return like.length === 1 ? scoresOption(like) : "--scores COLUMN";
}

function allEqual(table, names) {
  const [first, ...others] = names.map((name) => table.of(name));
  return others.every((column) => first.places().every((row) => column.text(row) === first.text(row)));
}

// --- questions ---

function between(found) {
  const some = found.slice(0, 6);
  return `the scores may be ${some.map(shortList).join("; or ")}: say which with ${some.map(scoresOption).join(" or ")}`;
}

function nothingClear(table, left) {
  let numbers = left.filter((name) => isNumber(table.of(name)) && !holdsBinary(table.of(name)));
  const rest = numbers.filter((name) => !standsBeside(name));
  if (rest.length) numbers = rest;
  const best = numbers.filter((name) => ofTop([name]));
  if (best.length > 1) return bestOf(best);
  const text = `no column of scores is clear among ${shortList(table.names)}`;
  const named = left.filter((name) => (parted(name) || isSure(name)) && !numbers.includes(name));
  if (!numbers.length) {
    const column = named.length ? table.of(named[0]) : null;
    const cell = column?.words?.find((word) => word !== null);
    let why = cell === undefined ? "" : `; ${quoted(named[0])} holds texts, such as ${quoted(cell)}`;
    if (cell?.trim().endsWith("%")) why += ", and others without %";
    return `${text}: none holds numbers other than 0 and 1${why}. Each row must have a score, of `
      + "every class or of one; decisions alone have no calibration";
  }
  return `${text}: name one column of scores, or one a class, such as ${scoresOption(numbers.slice(0, 1))}`
    + (numbers.length < 2 ? "" : ` or ${scoresOption(numbers)}`);
}
