// Scores as logits, or as probabilities whose rows sum to 1, and what is worth a warning of them.
// As calibkit.auditing.scores.
//
//   scoresOf({ scores, classes, kind }) -> { values, n, classes, logits, event, floor, warnings }
// values: (n x classes) numbers; logits: whether they are logits. event: whether column 1 is what
// every row says. floor: what a probability of 0 is taken for where its logarithm is needed.
import { roundedTolerance } from "./content.js";
import { shortNumber } from "./python_words.js";

const LOOSE = 0.05; // rows of rounded probabilities may miss the sum of 1 by so much
const LEAST = 2.2250738585072014e-308;
const PASSED = "probabilities were passed as logits: every row is positive and sums to 1. They are taken as "
  + "the probabilities that they are; a softmax of them would have made every row nearly uniform";
const PER_CENT = "rows sum to 100: they are taken as per cent and were divided by their sums";

export function scoresOf({ scores, classes, kind }) {
  if (classes === 1) return twoColumns(scores, kind);
  const n = scores.length / classes, { low, high, least, most, smallest } = extentOf(scores, classes);
  const off = Math.max(Math.abs(least - 1), Math.abs(most - 1)), floor = low === 0 ? smallest / 2 : 0;
  const found = { values: scores, n, classes, logits: false, event: false, floor, warnings: [] };
  const near = (total) => least >= total * (1 - LOOSE) && most <= total * (1 + LOOSE);
  if (low >= 0 && off <= tolerance(scores, classes, off)) {
    return { ...found, warnings: kind === "logits" ? [PASSED] : [] };
  }
  if (low >= 0 && near(1) && kind !== "logits") {
    const words = `rows do not sum to 1: their sums go from ${shortNumber(least)} to ${shortNumber(most)}, as rounded `
      + "probabilities' do. Every row was divided by its sum";
    return { ...found, values: divided(scores, classes), warnings: [words] };
  }
  if (low >= 0 && near(100)) {
    return { ...found, values: divided(scores, classes), floor: floor / 100, warnings: [PER_CENT] };
  }
  const sigmoids = `all scores lie in [0, 1] but their rows do not sum to 1 (from ${shortNumber(least, 3)} to `
    + `${shortNumber(most, 3)}). They are taken as logits. Sigmoids of one label each are no classifier of one class a `
    + "row: audit each column by itself";
  return { ...found, logits: true, warnings: low >= 0 && high <= 1 ? [sigmoids] : [] };
}

function extentOf(scores, classes) {
  let low = Infinity, high = -Infinity, least = Infinity, most = -Infinity, smallest = Infinity;
  for (let row = 0; row < scores.length; row += classes) {
    let sum = 0;
    for (let k = row; k < row + classes; k += 1) {
      const score = scores[k];
      sum += score;
      if (score < low) low = score;
      if (score > high) high = score;
      if (score > 0 && score < smallest) smallest = score;
    }
    least = Math.min(least, sum);
    most = Math.max(most, sum);
  }
  return { low, high, least, most, smallest };
}

function tolerance(scores, classes, off) {
  if (off <= 1e-4 || off > LOOSE) return 1e-4;
  const rows = Array.from({ length: Math.min(scores.length / classes, Math.ceil(2 ** 18 / classes)) }, (_, row) => row);
  const columns = Array.from({ length: classes }, (_, k) => rows.map((row) => scores[row * classes + k]));
  return roundedTolerance(columns, rows, 1, off) * (1 + 1e-6);
}

function divided(scores, classes) {
  const values = new Float64Array(scores.length);
  for (let row = 0; row < scores.length; row += classes) {
    let sum = 0;
    for (let k = row; k < row + classes; k += 1) sum += scores[k];
    for (let k = row; k < row + classes; k += 1) values[k] = scores[k] / sum;
  }
  return values;
}

// Scores of class 1 of two: probabilities, or logits against 0.
function twoColumns(scores, kind) {
  const n = scores.length, values = new Float64Array(2 * n), logits = kind === "logits";
  let smallest = Infinity, zero = false;
  for (let row = 0; row < n; row += 1) {
    values[2 * row] = logits ? 0 : 1 - scores[row];
    values[2 * row + 1] = scores[row];
    for (const value of [values[2 * row], scores[row]]) {
      if (value === 0) zero = true;
      else if (value > 0 && value < smallest) smallest = value;
    }
  }
  const floor = !logits && zero ? smallest / 2 : 0;
  return { values, n, classes: 2, logits, event: kind === "confidence", floor, warnings: [] };
}

// The logits of all rows: of probabilities their logarithms, finite where one is 0.
export function logitsOf({ values, logits, floor }) {
  const least = Math.max(floor, LEAST);
  return logits ? values : values.map((value) => Math.log(Math.max(value, least)));
}
