// A table as scores and labels that belong together; what is not clear is left to the command.
// As calibkit.auditing.columns, whose convention it keeps, or stricter.
//
//   read(table, asked) -> { scores, classes, labels, kind, names, groups, costs, told, rows }
// scores: a Float64Array of n rows of `classes` numbers, one class of one column. kind: "probs",
// "logits", or "confidence" of what a row predicts. rows: the places of the rows in the file.
import { POSITIVE, eventFirst, knownPositive, shortList, statedKind, wordsIn } from "./names.js";
import { ask, refuse, unsure } from "./refusals.js";
import { checkAnswers, checkClasses, checkOne, demandOneRun, fits } from "./checks.js";
import { contentOf, sumsTo } from "./content.js";
import { chosen, demandLabel } from "./choosing.js";
import { grouped, inOrder, quoted } from "./python_words.js";

const KIND_WORDS = { logits: "logits", percent: "per cent, divided by 100" };
const NO_LABEL = -100;

export function read(table, asked) {
  if (table.columns.length < 2 || !table.length) unsure("The table has no two columns, or no row.");
  const found = chosen(table, asked), lonely = found.scores.length === 1;
  const rows = keptRows(table, found, asked.drop), part = table.rows(rows), n = rows.length;
  const columns = found.scores.map((name) => part.of(name).numbers);
  const scored = (lonely ? kindOfOne : kindOfMany)(contentOf(columns), found.scores, asked.kind);
  const scores = rowsOf(columns, scored === "percent" ? 100 : 1), words = wordsIn(part.of(found.label));
  if (lonely) scores.forEach((score, row) => { scores[row] = Math.min(1, Math.max(0, score)); });
  const others = part.columns.filter(({ name }) => !found.scores.includes(name) && name !== found.label);
  demandOneRun(others, n);
  const of = found.answers ? ofAnswers(words, scores, others) : lonely ? ofOne(words, scores, others, asked)
    : ofClasses(words, found.classes, scores);
  if (asked.label === null && !found.answers && !fits(scores, of.labels, columns.length)) demandLabel(others, asked.groups);
  const lost = table.length - n;
  const told = [toldOf(table, found, asked), lost ? `${lost} of ${table.length} rows left out` : "",
    scored === "probs" ? "" : `taken as ${KIND_WORDS[scored]}`, of.told];
  const groups = asked.groups === null ? null : part.of(asked.groups);
  const kind = found.answers ? "confidence" : scored === "logits" ? "logits" : "probs";
  return { scores, classes: columns.length, labels: of.labels, kind, scored, names: of.names, groups, costs: asked.costs,
    label: found.label, leftOut: leftOut(lost, table.length), told: told.filter(Boolean).join("; "),
    rows: Uint32Array.from(rows) };
}

// What is said of a file of which many rows were left out.
const leftOut = (lost, n) => (lost <= 0.1 * n ? [] : [`${grouped(lost)} of ${grouped(n)} rows are left out, for want of a `
  + "label or a score: the numbers say nothing of such rows"]);

function toldOf(table, found, asked) {
  const unused = table.names.filter((name) => ![...found.scores, found.label, asked.groups].includes(name));
  return `labels from ${quoted(found.label)}, scores from ${shortList(found.scores)}`
    + (unused.length ? `; not used: ${shortList(unused)}` : "");
}

// The rows that lack nothing; others are refused, unless they may be left out.
function keptRows(table, found, drop) {
  const labels = table.of(found.label), scores = found.scores.map((name) => table.of(name).numbers), n = table.length;
  if (!labels.words && labels.numbers.includes(NO_LABEL)) unsure("The label -100 may stand for none.");
  const gone = [], kept = [];
  for (let row = 0; row < n; row += 1) {
    (labels.lacks(row) || scores.some((column) => !Number.isFinite(column[row])) ? gone : kept).push(row);
  }
  if (!kept.length) refuse(`every one of the ${n} rows lacks a label or a number`);
  if (gone.length && !drop) {
    refuse(`${gone.length} of ${n} rows lack a label or a finite score: row ${gone.slice(0, 5).join(", ")}`
      + `${gone.length > 5 ? ", ..." : ""} (the first is 0). Look why; --drop-missing leaves them out`);
  }
  return kept;
}

// --- kinds ---

const OTHER = "What the scores are, probabilities, per cent or logits, is not clear to this page.";

function kindOfOne({ low, high }, names, asked) {
  const said = [asked, statedKind(names)].every((kind) => [null, "probs"].includes(kind));
  return said && low >= -1e-6 && high <= 1 + 1e-6 ? "probs" : unsure(OTHER);
}

function kindOfMany(found, names, asked) {
  const held = sumsTo(found, 1) ? "probs" : sumsTo(found, 100) ? "percent" : null, said = statedKind(names);
  const fits = asked === null ? [null, "probs", held].includes(said) : asked === held;
  if (held && fits) return held;
  const near = found.sums.reduce((sum, one) => sum + (Math.abs(one - 1) < 0.1 || Math.abs(one - 100) < 10), 0);
  const clear = !held && found.low < 0 && found.high > 0 && near < found.n / 2;
  return clear && (asked === "logits" || (asked === null && said === "logits")) ? "logits" : unsure(OTHER);
}

// Columns as rows.
function rowsOf(columns, scale) {
  const n = columns[0].length, classes = columns.length, values = new Float64Array(n * classes);
  columns.forEach((column, k) => {
    for (let row = 0; row < n; row += 1) values[row * classes + k] = column[row] / scale;
  });
  return values;
}

// --- labels ---

function ofAnswers(words, scores, others) {
  const labels = Int32Array.from(words, (word) => Number(POSITIVE.includes(word.toLowerCase())));
  checkAnswers(scores, labels, others);
  return { labels, names: ["wrong", "right"], told: "judged by whether the prediction is right" };
}

function ofOne(words, scores, others, { positive: asked }) {
  const found = inOrder(new Set(words));
  if (found.length !== 2) unsure("One column of scores goes with two labels; for others the command asks.");
  const positive = asked === null ? knownPositive(found) : found.find((word) => word === asked) ?? null;
  if (positive === null) ask(`Labels are ${found.join(" and ")}: of which is the score?`, {}, "positive");
  const labels = Int32Array.from(words, (word) => Number(word === positive));
  const [other] = found.filter((word) => word !== positive);
  checkOne(scores, labels, others, positive);
  const plain = positive === "1" && other === "0";
  return { labels, names: plain ? null : [other, positive], told: plain ? "" : `positive class ${quoted(positive)}` };
}

function ofClasses(words, names, scores) {
  const place = new Map(names.map((name, k) => [name, k]));
  if (place.size < names.length || words.some((word) => !place.has(word))) unsure("Two columns are called after one class.");
  const labels = Int32Array.from(words, (word) => place.get(word));
  checkClasses(scores, labels, names.length);
  if (names.length > 2 || !eventFirst(names)) return { labels, names, told: "" };
  for (let at = 0; at < scores.length; at += 2) scores.subarray(at, at + 2).reverse(); // the event stands second
  return { labels: labels.map((place) => 1 - place), names: [names[1], names[0]], told: "" };
}
