// A table as scores and labels that belong together; what is not clear is asked.
// As calibkit.auditing.reading.
//
//   read(table, asked) -> { scores, classes, labels, kind, names, groups, costs, told, rows }
// scores: a Float64Array of n rows of `classes` numbers, one class of one column. kind: "probs",
// "logits", or "confidence" of what a row predicts. rows: the places of the rows in the file.
import { KIND_WORDS, demandScale, kindOfMany, kindOfOne } from "./kinds.js";
import { areWords, wordsIn } from "./label_words.js";
import { chosen } from "./choosing.js";
import { demandConvention } from "./convention.js";
import { contentOf } from "./content.js";
import { demandUnmixed, holdsFractions } from "./table.js";
import { hits, labelsOfOne } from "./event_labels.js";
import { parted, shortList } from "./names.js";
import { places } from "./placing.js";
import { quoted } from "./python_words.js";
import { refuse } from "./refusals.js";

const UNLABELLED = [-100]; // what PyTorch writes where a row has no label

export function read(table, asked) {
  const marked = asked.missing === null ? table : table.without(asked.missing);
  if (marked.columns.length < 2 || !marked.length) {
    refuse(`the file must hold a header, a column of labels and one of scores a class, got ${marked.length} rows of `
      + `the columns [${marked.names.map(quoted).join(", ")}]`);
  }
  const found = chosen(marked, asked), lonely = found.scores.length === 1;
  const called = lonely ? null : classNames(found, demandUnmixed(marked.of(found.label)));
  const rows = keptRows(marked, found, asked.drop), part = marked.rows(rows);
  const columns = found.scores.map((name) => part.of(name).numbers), walked = contentOf(columns);
  const scored = lonely ? kindOfOne(walked, found.scores[0], asked.kind)
    : kindOfMany(walked, found.scores, asked.kind, found.ofClasses);
  const scores = scaled(columns, scored, lonely);
  const of = lonely ? ofOne(part, found, scores, asked, scored) : ofClasses(part, found, called, scores, asked);
  const made = { scores, classes: columns.length, labels: of.labels, scored, names: of.names };
  demandConvention(part, asked, found, made);
  const lost = marked.length - rows.length;
  const told = [toldOf(marked, found, asked), lost ? `${lost} of ${marked.length} rows left out` : "",
    scored === "probs" ? "" : `taken as ${KIND_WORDS[scored]}`, of.told];
  const groups = asked.groups === null ? null : demandUnmixed(part.of(asked.groups));
  const kind = found.event ? "confidence" : scored === "logits" || (scored === "logprobs" && !lonely) ? "logits" : "probs";
  return { scores, classes: columns.length, labels: of.labels, kind, scored, names: of.names, groups, costs: asked.costs,
    told: told.filter(Boolean).join("; "), rows: Uint32Array.from(rows) };
}

function toldOf(table, found, asked) {
  const used = new Set([...found.scores, found.label, found.predicted, asked.groups]);
  const unused = table.names.filter((name) => !used.has(name));
  return `labels from ${quoted(found.label)}, scores from ${shortList(found.scores)}`
    + (found.predicted === null ? "" : `, of the predictions in ${quoted(found.predicted)}`)
    + (unused.length ? `; not used: ${shortList(unused)}` : "");
}

// The classes that columns are called after: p_cat is cat, unless a label is p_cat.
function classNames({ scores }, labels) {
  const parts = scores.map(parted), countable = labels.kind !== "f" || !holdsFractions(labels);
  const words = countable ? [...new Set(wordsIn(labels.rows(labels.filled())))] : [];
  const within = (names) => words.every((word) => names.includes(word));
  if (parts.every((part) => part !== null) && !within(scores)) return parts.map((part) => part.of);
  const start = scores[0].slice(0, scores[0].lastIndexOf("_") + 1);
  const common = scores.every((name) => name.startsWith(start)) ? start : "";
  const rest = scores.map((name) => name.slice(common.length));
  return within(rest) && !rest.includes("") ? rest : scores;
}

// The rows that lack nothing; others are refused, unless they may be left out.
function keptRows(table, found, drop) {
  const labels = table.of(found.label), scores = found.scores.map((name) => table.of(name).numbers);
  const decisions = found.predicted === null ? null : table.of(found.predicted), n = table.length;
  const lost = (row) => labels.lacks(row) || Boolean(decisions?.lacks(row))
    || (!areWords(labels) && labels.kind !== "b" && UNLABELLED.includes(labels.numbers[row]))
    || scores.some((column) => !Number.isFinite(column[row]));
  const gone = [], kept = [];
  for (let row = 0; row < n; row += 1) (lost(row) ? gone : kept).push(row);
  if (!kept.length) refuse(`every one of the ${n} rows lacks a label or a number`);
  if (gone.length && !drop) {
    refuse(`${gone.length} of ${n} rows lack a label or a finite score: row ${gone.slice(0, 5).join(", ")}`
      + `${gone.length > 5 ? ", ..." : ""} (the first is 0). Look why; --drop-missing leaves them out`);
  }
  return kept;
}

// Columns as rows, in fractions and logits.
function scaled(columns, kind, lonely) {
  const n = columns[0].length, classes = columns.length, values = new Float64Array(n * classes);
  columns.forEach((column, k) => {
    for (let row = 0; row < n; row += 1) {
      const score = column[row];
      values[row * classes + k] = kind === "percent" ? score / 100 : kind === "logprobs" && lonely ? Math.exp(score) : score;
    }
  });
  return values;
}

function ofOne(part, found, scores, asked, scored) {
  const labels = part.of(found.label), [name] = found.scores;
  if (found.event) return hits(labels, found.predicted === null ? null : part.of(found.predicted));
  const own = parted(name), after = [name.trim(), ...(own ? [own.of] : [])];
  const read = labelsOfOne(labels, after, scores, asked.positive);
  if (asked.kind === null && scored === "probs") demandScale(scores, read.labels, name);
  return read;
}

function ofClasses(part, found, called, values, asked) {
  const classes = found.scores.length, names = asked.classes ?? called, n = part.length;
  if (asked.positive !== null) {
    refuse(`--positive goes with one column of scores, but there are ${classes}: name one of them with --scores`);
  }
  if (names.length !== classes) refuse(`classes must name ${classes} columns, got ${names.length}`);
  const labels = places(demandUnmixed(part.of(found.label)), names, { values, n, classes }, asked.first);
  if (asked.first !== null && names.every((name) => /^\d+$/.test(name))) {
    const counted = names.map((_, k) => String(asked.first + k));
    return { labels, names: counted, told: `class ${asked.first} first` };
  }
  return { labels, names, told: asked.first === null || areWords(part.of(found.label)) ? "" : `class ${asked.first} first` };
}
