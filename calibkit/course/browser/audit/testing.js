// The test of calibration and its power: hits drawn from the confidences, as the command draws them.
// As calibkit.auditing.findings and calibkit.metrics.testing.
import { BINS, binOf } from "../shared/metrics.js";
import { NumpyRandom } from "./numpy_random.js";
import { normalBelow } from "./distributions.js";

const DRAWS = 1000, FEWER = 200; // of the test, and of its power
export const SIZES = [0.005, 0.01, 0.02, 0.05, 0.1]; // over-confidence that the test may find
export const ALPHA = 0.05;

// rows: { n, confidence, correct, excess, variance } -> { test, power }, of sizes: [{ overconfidence, found }].
export function calibrationTest(rows, sizes = SIZES) {
  const { confidence, correct } = rows, draws = new Draws(confidence);
  const drawn = draws.errors(0, DRAWS), observed = draws.error((row) => correct[row]);
  const asLarge = drawn.reduce((sum, error) => sum + (error >= observed - 1e-12), 0);
  const z = spiegelhalter(rows), threshold = quantile(drawn, 1 - ALPHA);
  const test = { error: observed, expected: drawn.reduce((a, b) => a + b, 0) / DRAWS, p_value: (1 + asLarge) / (1 + DRAWS),
    z, p_value_z: 2 * normalBelow(-Math.abs(z)) };
  const power = sizes.map((overconfidence) => {
    const found = draws.errors(overconfidence, FEWER);
    return { overconfidence, found: found.reduce((sum, error) => sum + (error > threshold), 0) / FEWER };
  });
  return { test, power };
}

class Draws {
  constructor(confidence) {
    this.confidence = confidence;
    this.bin = Uint8Array.from(confidence, (said) => binOf(said));
    this.bins = this.bin.reduce((most, bin) => Math.max(most, bin), 0) + 1;
    this.random = new NumpyRandom();
    this.gaps = new Float64Array(BINS);
  }

  // The ECE of hits; hit(row): 0 or 1.
  error(hit) {
    const { confidence, bin, gaps } = this, n = confidence.length;
    gaps.fill(0);
    for (let row = 0; row < n; row += 1) gaps[bin[row]] += confidence[row] - hit(row);
    return sumOfSizes(gaps, this.bins) / n;
  }

  // Of hits whose chance lies by `size` below the confidence, many times.
  errors(size, times) {
    const { confidence, random } = this;
    const chance = size === 0 ? confidence : confidence.map((said) => Math.min(Math.max(said - size, 0), 1));
    const hit = (row) => (random.uniform() < chance[row] ? 1 : 0);
    return Float64Array.from({ length: times }, () => this.error(hit));
  }
}

// In the order in which numpy adds, so that errors that are equal there are equal here.
function sumOfSizes(values, count) {
  const size = (k) => Math.abs(values[k]);
  if (count < 8) {
    let sum = 0;
    for (let k = 0; k < count; k += 1) sum += size(k);
    return sum;
  }
  let sum = ((size(0) + size(1)) + (size(2) + size(3))) + ((size(4) + size(5)) + (size(6) + size(7)));
  for (let k = 8; k < count; k += 1) sum += size(k);
  return sum;
}

function spiegelhalter({ excess, variance }) {
  const total = excess.reduce((a, b) => a + b, 0), spread = variance.reduce((a, b) => a + Math.max(b, 0), 0);
  return spread > 0 ? total / Math.sqrt(spread) : total > 0 ? Infinity : 0;
}

function quantile(values, share) {
  const ordered = Float64Array.from(values).sort(), at = share * (values.length - 1), low = Math.floor(at);
  return ordered[low] + (at - low) * (ordered[Math.min(low + 1, values.length - 1)] - ordered[low]);
}
