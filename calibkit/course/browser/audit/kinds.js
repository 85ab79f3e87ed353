// What scores are, decided by what they hold and by what they are called: both must agree.
// As calibkit.auditing.kinds.
import { scoresOption, shortList, statedKind } from "./names.js";
import { furthest, sumsTo } from "./content.js";
import { quoted, shortNumber } from "./python_words.js";
import { refuse } from "./refusals.js";

const MOST_OFF = 0.05;
const KINDS = ["probs", "logits", "percent", "logprobs"];
export const KIND_WORDS = {
  probs: "probabilities", logits: "logits", percent: "per cent", logprobs: "logarithms of probabilities",
};

// The kind of K columns. asked: what the user names, or null. ofClasses: whether they are surely
// the classes, so that scores of any size are logits.
export function kindOfMany(found, names, asked, ofClasses) {
  const held = heldBy(found);
  if (asked === "probs" && held === "nearly") return asked; // rows are divided by their sums
  if (["probs", "percent"].includes(asked) && held !== asked) {
    refuse(`${shown(names)} are no ${KIND_WORDS[asked]}: ${extent(found)}${rather(held, names)}`);
  }
  if (asked === "logprobs") return ofLogProbs(found, names);
  if (asked !== null) return asked;
  const said = statedKind(names);
  if (["logits", "positive"].includes(held) && [null, "probs", "percent"].includes(said)) demandAll(found);
  if (["probs", "percent"].includes(held) && [null, "probs", held].includes(said)) return held;
  if (held === "logits" && ["logits", "logprobs"].includes(said)) return "logits";
  if (held === "positive" && said === "logits") return "logits";
  if (held === "logits" && said === null && ofClasses) return "logits";
  return refuse(unclear(found, names, said, held));
}

// What numbers alone say.
function heldBy(found) {
  if (sumsTo(found, 1)) return "probs";
  if (sumsTo(found, 100)) return "percent";
  if (found.low >= 0 && furthest(found, 1) <= MOST_OFF) return "nearly";
  if (found.low >= 0) return found.high <= 1 ? "sigmoids" : "positive";
  return Math.max(found.high, -found.low) > 1 ? "logits" : "small";
}

// Rows of which most sum to 1, or to 100, and the others hold something else.
function demandAll({ sums, n }) {
  const off = sums.map((sum) => Number(Math.min(Math.abs(sum - 1), Math.abs(sum / 100 - 1)) > MOST_OFF));
  const count = off.reduce((a, b) => a + b, 0), row = off.indexOf(1);
  if (!(count > 0 && count < n / 2)) return;
  refuse(`${count} of ${n} rows hold no probabilities, row ${row} (the first is 0) with the sum `
    + `${shortNumber(sums[row])}: if a number there stands for no value, say it with --missing=NUMBER and --drop-missing`);
}

function extent({ low, high, sums, bad }) {
  let least = Infinity, most = -Infinity;
  sums.forEach((sum, row) => {
    if (!bad[row]) [least, most] = [Math.min(least, sum), Math.max(most, sum)];
  });
  return `values from ${shortNumber(low)} to ${shortNumber(high)}, sums of rows from ${shortNumber(least)} to `
    + shortNumber(most);
}

function rather(held, names) {
  if (["probs", "percent", "logits"].includes(held)) return `. They look like ${KIND_WORDS[held]}: --kind ${held}`;
  if (held === "nearly") return ". They nearly sum to 1: --kind probs divides each row by its sum";
  return held === "sigmoids" ? `. ${oneByOne(names)}` : ". If they are logits, say --kind logits";
}

const oneByOne = (names) => "Scores of labels that do not exclude each other, of two models, or of the k best classes "
  + `are read one at a time, such as ${scoresOption(names.slice(-1))}, with --positive VALUE `
  + "where the labels are classes, or --label COLUMN where each has labels of its own";

function unclear(found, names, said, held) {
  const text = `${shown(names)} ${said ? `are called ${KIND_WORDS[said]} but hold` : "hold"} ${extent(found)}`;
  if (held === "nearly") {
    return `${text}: more than their rounding explains. If they are all classes, say --kind `
      + `probs, which divides each row by its sum. ${oneByOne(names)}`;
  }
  if (held === "sigmoids") {
    return `${text}: no row of classes. ${oneByOne(names)}; if they are logits, say --kind logits`;
  }
  if (["probs", "percent"].includes(held)) {
    return `${text}, as ${KIND_WORDS[held]} do: say --kind ${held}, or --kind logits`;
  }
  return `${text}: say --kind logits if they are logits, or name other columns with --scores`;
}

function ofLogProbs({ columns, some }, names) {
  const sums = some.map((row) => columns.reduce((sum, column) => sum + Math.exp(column[row]), 0));
  if (sums.some((sum) => Math.abs(sum - 1) > MOST_OFF)) {
    refuse(`${shown(names)} are no logarithms of probabilities: their exponentials sum to up to `
      + `${shortNumber(Math.max(...sums))} a row; say --kind logits`);
  }
  return "logits";
}

// The kind of one column.
export function kindOfOne(found, name, asked) {
  demandFew(found, name, asked);
  const { low, high } = found, said = statedKind([name]);
  const fits = { probs: low >= 0 && high <= 1, percent: low >= 0 && high <= 100, logits: true, logprobs: high <= 0 };
  const held = `from ${shortNumber(low)} to ${shortNumber(high)}`;
  const fitting = KINDS.filter((kind) => fits[kind]);
  if (asked !== null) {
    if (fits[asked]) return asked;
    refuse(`column ${quoted(name)} holds values ${held}, which are no ${KIND_WORDS[asked]}; say `
      + kindOptions(fitting.filter((kind) => kind !== asked)));
  }
  if (said === "logprobs" && fits.logprobs) return said;
  if (said === "logits" && !fits.probs) return said;
  if (said === "percent" && fits.percent && high > 1) return said;
  if ((said === null || said === "probs") && fits.probs) return "probs";
  const called = said ? `is called ${KIND_WORDS[said]} and ` : "";
  if (fitting.length === 1) {
    refuse(`column ${quoted(name)} ${called}holds values ${held}, which are no probabilities: say `
      + "--kind logits if they are logits, or name another column with --scores");
  }
  return refuse(`column ${quoted(name)} ${called}holds values ${held}, which may be `
    + `${fitting.map((kind) => KIND_WORDS[kind]).join(" or ")}: say ${kindOptions(fitting)}`);
}

// Probabilities of which a few are something else.
function demandFew({ sums, n, low, high }, name, asked) {
  const off = sums.map((sum) => Number(sum < 0 || sum > 1)), count = off.reduce((a, b) => a + b, 0);
  const odd = low < -1 || high > 100, row = off.indexOf(1);
  if (![null, "probs"].includes(asked) || !odd || !(count > 0 && count <= n / 20)) return;
  const value = shortNumber(sums[row], 6);
  refuse(`column ${quoted(name)} holds ${count} of ${n} values that are no probabilities, ${value} in row ${row} `
    + `(the first is 0): if that stands for no value, say --missing=${value} and --drop-missing; if all are `
    + "logits, say --kind logits");
}

// Scores in [0, 1] that fit the labels as per cent, and not at all as probabilities.
export function demandScale(scores, labels, name) {
  const n = labels.length, mean = (values) => values.reduce((sum, value) => sum + value, 0) / n;
  const rate = mean(labels), said = mean(scores), error = Math.sqrt(Math.max(rate, 1 / n) / n);
  const close = Math.abs(said / 100 - rate) < 4 * error + rate / 2;
  if (n < 100 || said <= 20 * rate || !close) return;
  refuse(`column ${quoted(name)} says ${shortNumber(said, 3)} in the mean, and ${shortNumber(rate, 3)} of the `
    + "labels are positive: say --kind percent or --kind probs");
}

const kindOptions = (kinds) => kinds.map((kind) => `--kind ${kind}`).join(" or ");
const shown = (names) => `the scores ${shortList(names)}`;
