// What the page takes without a question. Whatever does not keep the convention of
// calibkit.auditing.reading is left to the command, which asks: a page that reads a file in another
// way than the command would be wrong in silence.
//
//   demandConvention(table, asked, found, made)   // before the numbers are used
// found: which columns were chosen; made: { scores, classes, labels, scored, names } as read.
import { CONFIDENCE_NAMES, CORRECT_NAMES, LABEL_NAMES, NEGATIVE_WORDS, PART_WORDS, POSITIVE_WORDS, SCORE_NAMES,
} from "./name_words.js";
import { wordsIn } from "./label_words.js";
import { bare, statedKind } from "./names.js";
import { holdsFractions, isNumber } from "./table.js";
import { ask, checkRight, checkRows, checkSorted } from "./checks.js";

const MARKS = new Set(["?", "missing", "\\N"]);

export function demandConvention(table, asked, found, made) {
  const labels = table.of(found.label), words = new Set(wordsIn(labels));
  demandLabels(table, asked, found, labels, words);
  if (asked.scores === null) demandNames(table, asked, found, words);
  demandKind(asked, found, made);
  demandEvent(asked, found, made, words);
  checkSorted(made);
  checkRight(found, made);
  checkRows(table, found, made);
}

function demandLabels(table, asked, found, labels, words) {
  const like = table.names.filter((name) => LABEL_NAMES.has(bare(name)) && !holdsFractions(table.of(name)));
  const known = found.event && found.predicted === null ? CORRECT_NAMES : LABEL_NAMES;
  if (asked.label === null && (!known.has(bare(found.label)) || (known === LABEL_NAMES && like.length > 1))) {
    ask("The column of labels has no usual name, or there are several.");
  }
  const correct = table.names.some((name) => CORRECT_NAMES.has(bare(name)));
  if (known === LABEL_NAMES && correct && asked.label === null) ask("Beside the labels a column says what is right.");
  if (known === CORRECT_NAMES && like.length && asked.label === null) ask("Beside what is right there are labels.");
  if ([...words].some((word) => MARKS.has(word.trim()) || /^-[\d.]+$/.test(word))) {
    ask("Some labels are marks, or numbers below 0.");
  }
}

// Scores are called after the classes, or by one usual name.
function demandNames(table, asked, found, words) {
  const others = table.names.filter((name) => !found.scores.includes(name) && name !== found.label
    && name !== found.predicted && isNumber(table.of(name)));
  const usual = (name) => SCORE_NAMES.has(bare(name)) || CONFIDENCE_NAMES.has(bare(name));
  if (others.some(usual)) ask("Several columns may be the scores.");
  if (found.predicted !== null && asked.predicted === null) ask("A column may hold predictions.");
  if (found.scores.length === 1) {
    const [name] = found.scores, sure = CONFIDENCE_NAMES.has(bare(name));
    const called = SCORE_NAMES.has(bare(name)) || words.has(classIn(name, words));
    if (sure ? !found.event : !called) ask(`'${name}' may be the scores.`);
    return;
  }
  const classes = found.scores.map((name) => classIn(name, words));
  const missing = [...words].filter((word) => !classes.includes(word));
  const further = classes.every((of) => of !== null && (words.has(of) || /^\d+$/.test(of)));
  if ((missing.length && asked.first === null) || !further || new Set(classes).size < classes.length) {
    ask("The columns of scores are not called after the labels.");
  }
}

// The class that a column is called after: the label beside words that every score has, or a number.
function classIn(name, words) {
  const text = name.trim();
  if (words.has(text)) return text;
  for (const word of [...words, /\d+$/.exec(text)?.[0]].filter(Boolean)) {
    const at = text.lastIndexOf(word);
    if (at < 0) continue;
    const before = text.slice(0, at), after = text.slice(at + word.length);
    const number = /^\d+$/.test(word), sign = /[^\p{L}\p{N}]/u;
    const opens = before === "" || sign.test(before.slice(-1)) || (number && /\p{L}$/u.test(before));
    if (!opens || !(after === "" || sign.test(after[0]))) continue;
    const rest = `${before} ${after}`.split(/[^\p{L}]+/u).filter(Boolean);
    if (rest.every((part) => PART_WORDS.has(part.toLowerCase()))) return number ? String(Number(word)) : word;
  }
  return null;
}

function demandKind(asked, { scores }, { scored }) {
  const stated = statedKind(scores);
  if (asked.kind !== null) return;
  if (scored === "probs" ? stated !== null && stated !== "probs" : stated !== scored) {
    ask("Names and numbers do not say alike whether these are probabilities, logits or per cent.");
  }
}

// One score is of 1, yes, true or positive, beside their opposite.
function demandEvent(asked, found, { classes, names }, words) {
  const digits = (all) => [...all].every((word) => /^\d+$/.test(word));
  if (classes > 1) {
    if (asked.classes !== null && digits(asked.classes)) ask("--classes says which labels the columns are of.");
    if (digits(words) && !digits(names) && asked.classes === null && asked.first === null) {
      ask("The labels are numbers, and the columns are called by words.");
    }
    return;
  }
  if (found.event || asked.positive !== null || words.has(classIn(found.scores[0], words))) return;
  const two = [...words].map((word) => word.trim().toLowerCase().replace(/^([01])\.0+$/, "$1"));
  const pairs = POSITIVE_WORDS.map((word, place) => [word, NEGATIVE_WORDS[place]]);
  if (!pairs.some((pair) => two.length === 2 && two.every((word) => pair.includes(word)))) {
    ask("It is not clear which label the scores are of.");
  }
}
