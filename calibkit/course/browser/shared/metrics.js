// What is measured of predictions, as calibkit.metrics defines it.
//
// Logits and probabilities of n samples and K classes are one flat typed array, row after row.
//   softmaxRows(logits, classes, temperature) -> probabilities, a Float64Array
//   topOf(probs, labels, classes) -> { predicted, confidence, correct }, one entry a sample
//   reliability({ confidence, correct }, bins, place) -> counts, hits, confidence, accuracy of each bin
//   accuracyOf, confidenceOf, gapOf({ confidence, correct }) -> a fraction
//   eceOf, mceOf(reliability) -> a fraction
//   nllOf, brierOf(probs, labels, classes) -> a mean over the samples, in nats and on [0, 2]
//   wilson(hits, count) -> [low, high], the interval of a share
export const BINS = 15;
export const Z = 1.959963984540054; // of a 95 % interval

export function softmaxRows(logits, classes, temperature = 1) {
  const probs = new Float64Array(logits.length);
  for (let row = 0; row < logits.length; row += classes) {
    let most = -Infinity, sum = 0;
    for (let k = row; k < row + classes; k += 1) if (logits[k] > most) most = logits[k];
    for (let k = row; k < row + classes; k += 1) {
      probs[k] = Math.exp((logits[k] - most) / temperature);
      sum += probs[k];
    }
    for (let k = row; k < row + classes; k += 1) probs[k] /= sum;
  }
  return probs;
}

// Ties go to the lowest class.
export function topOf(probs, labels, classes) {
  const n = labels.length, predicted = new Uint16Array(n);
  const confidence = new Float64Array(n), correct = new Uint8Array(n);
  for (let i = 0; i < n; i += 1) {
    let best = 0;
    for (let k = 1; k < classes; k += 1) {
      if (probs[i * classes + k] > probs[i * classes + best]) best = k;
    }
    predicted[i] = best;
    confidence[i] = probs[i * classes + best];
    correct[i] = best === labels[i] ? 1 : 0;
  }
  return { predicted, confidence, correct };
}

// The bin (low, high] of a value in [0, 1]; 0 is in the first. Edges are i / bins, as in Python.
export function binOf(value, bins = BINS) {
  let bin = Math.min(bins - 1, Math.max(0, Math.ceil(value * bins) - 1));
  while (bin < bins - 1 && value > (bin + 1) / bins) bin += 1;
  while (bin > 0 && value <= bin / bins) bin -= 1;
  return bin;
}

// confidence and accuracy of a bin without samples are NaN; bin is that of each sample.
// place(value, bins): the bin of a value; by default the bins have equal widths.
export function reliability({ confidence, correct }, bins = BINS, place = binOf) {
  const n = confidence.length, counts = new Float64Array(bins), hits = new Float64Array(bins);
  const sums = new Float64Array(bins), bin = new Uint8Array(n);
  for (let i = 0; i < n; i += 1) {
    const b = place(confidence[i], bins);
    bin[i] = b;
    counts[b] += 1;
    hits[b] += correct[i];
    sums[b] += confidence[i];
  }
  const share = (sum, b) => sum / counts[b];
  return { n, bins, counts, hits, bin, confidence: sums.map(share), accuracy: hits.map(share) };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export const accuracyOf = (top) => mean(top.correct);
export const confidenceOf = (top) => mean(top.confidence);
export const gapOf = (top) => confidenceOf(top) - accuracyOf(top); // above 0: over-confident

// Of each bin with samples: how far its confidence lies from its accuracy.
const distances = ({ counts, confidence, accuracy }) =>
  Array.from(counts, (count, b) => (count ? Math.abs(confidence[b] - accuracy[b]) : 0));

export function eceOf(binned) {
  return distances(binned).reduce((sum, off, b) => sum + (binned.counts[b] / binned.n) * off, 0);
}

export const mceOf = (binned) => Math.max(...distances(binned));

export function nllOf(probs, labels, classes) {
  let sum = 0;
  for (let i = 0; i < labels.length; i += 1) {
    sum -= Math.log(Math.max(probs[i * classes + labels[i]], Number.MIN_VALUE));
  }
  return sum / labels.length;
}

export function brierOf(probs, labels, classes) {
  let sum = 0;
  for (let i = 0; i < probs.length; i += 1) {
    const hit = labels[Math.floor(i / classes)] === i % classes ? 1 : 0;
    sum += (probs[i] - hit) ** 2;
  }
  return sum / labels.length;
}

export function wilson(hits, count, z = Z) {
  const share = hits / count, scale = 1 + (z * z) / count;
  const middle = (share + (z * z) / (2 * count)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / count + (z / (2 * count)) ** 2)) / scale;
  return [middle - half, middle + half];
}
