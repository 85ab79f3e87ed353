// What an audit needs of every row, and one table for the classes, in one walk.
// As calibkit.auditing.measures.
import { BINS, binOf } from "../shared/metrics.js";

// values: probabilities, or logits, of n rows; temperature: what the logits of each row are divided
// by, or null. event: whether every row says column 1.
// -> { n, classes, labels, predicted, confidence, correct, nll, brier, excess, variance, residual }
// excess, variance: the terms of Spiegelhalter's z. residual: sums of p_k - [label = k], bin by bin
// and in each bin class by class.
export function judgeRows({ values, n, classes, event }, labels, { logits, temperature = null }) {
  const columns = ["confidence", "nll", "brier", "excess", "variance"].map(() => new Float64Array(n));
  const [confidence, nll, brier, excess, variance] = columns;
  const predicted = new Int32Array(n), correct = new Uint8Array(n), probs = new Float64Array(classes);
  const residual = new Float64Array(BINS * classes);
  for (let row = 0; row < n; row += 1) {
    const start = row * classes, label = labels[row];
    const logOfLabel = logits ? softmax(values, start, probs, temperature ? temperature[row] : 1, label)
      : copy(values, start, probs, label);
    let best = 0, second = 0, third = 0;
    for (let k = 0; k < classes; k += 1) {
      const p = probs[k], square = p * p;
      if (p > probs[best]) best = k;
      second += square;
      third += square * p;
      residual[binOf(p) * classes + k] += p;
    }
    residual[binOf(probs[label]) * classes + label] -= 1;
    if (event) best = 1;
    const given = Math.exp(logOfLabel);
    predicted[row] = best;
    confidence[row] = probs[best];
    correct[row] = Number(best === label);
    nll[row] = -logOfLabel;
    brier[row] = second - 2 * given + 1;
    excess[row] = second - given;
    variance[row] = third - second * second;
  }
  return { n, classes, labels, predicted, confidence, correct, nll, brier, excess, variance, residual };
}

// Both fill in the probabilities of a row, and give the logarithm of its label's.
function copy(values, start, probs, label) {
  for (let k = 0; k < probs.length; k += 1) probs[k] = values[start + k];
  return Math.log(probs[label]);
}

function softmax(values, start, probs, temperature, label) {
  const classes = probs.length;
  let most = -Infinity, sum = 0;
  for (let k = 0; k < classes; k += 1) if (values[start + k] > most) most = values[start + k];
  for (let k = 0; k < classes; k += 1) {
    probs[k] = Math.exp((values[start + k] - most) / temperature);
    sum += probs[k];
  }
  for (let k = 0; k < classes; k += 1) probs[k] /= sum;
  return (values[start + label] - most) / temperature - Math.log(sum);
}

// The rows of a binary model as forecasts of class 1: how probable it is, whether it came. Their
// Brier score is (p - y)^2, half of the sum over both classes.
export function eventRows(rows) {
  const confidence = rows.confidence.map((said, row) => (rows.predicted[row] === 1 ? said : 1 - said));
  const brier = rows.brier.map((score) => score / 2), predicted = new Int32Array(rows.n).fill(1);
  return { ...rows, confidence, brier, correct: Uint8Array.from(rows.labels), predicted };
}
