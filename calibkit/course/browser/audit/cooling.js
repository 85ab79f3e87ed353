// The temperature: every row is divided by one that its own label had no part in.
// As calibkit.auditing.cross_fitted; the halves are those of the command.
import { LIMITS, fitTemperature } from "../shared/temperature.js";
import { Z } from "../shared/metrics.js";
import { NumpyRandom } from "./numpy_random.js";

const NOT_FAVOURED = "the scores do not clearly favour the labels over other classes. See whether the labels stand "
  + "in the order of the rows, and the columns in that of the classes";
const CONSTANT = "every row of logits is constant, so no temperature matters; keeping T = 1";

// -> { ofRow, fitted, value, low, high, warnings, misfit }
export function crossFitted(logits, labels, classes) {
  const halves = halvesOf(labels.length), fits = [1, 0].map((by) => fitOf(logits, labels, classes, halves[by]));
  const ofRow = new Float64Array(labels.length);
  halves.forEach((rows, half) => rows.forEach((row) => { ofRow[row] = fits[half].value; }));
  const fitted = fits.map((fit) => fit.value), warnings = [...new Set(fits.flatMap((fit) => fit.warnings))];
  const middle = (Math.log(fitted[0]) + Math.log(fitted[1])) / 2;
  const error = (fits[0].error + fits[1].error) / 2 / Math.SQRT2;
  let misfit = fits.find((fit) => fit.misfit)?.misfit ?? "";
  if (misfit && !fits.every((fit) => fit.misfit)) misfit = `in one half of the rows ${misfit}`;
  if (!misfit && middle > 0 && error * Z >= 1) misfit = NOT_FAVOURED; // 1 / T may as well be 0
  if (misfit) return { ofRow: ofRow.fill(1), fitted, value: NaN, low: NaN, high: NaN, error, warnings, misfit };
  const half = Z * error;
  return { ofRow, fitted, value: Math.exp(middle), low: Math.exp(middle - half),
    high: Math.exp(Math.min(middle + half, 700)), error, warnings, misfit };
}

// The rows of two halves, drawn at random.
export function halvesOf(n) {
  const first = new Uint8Array(n), order = new NumpyRandom().order(n);
  for (let place = 0; place < n; place += 2) first[order[place]] = 1;
  const rows = (mine) => Uint32Array.from({ length: n }, (_, row) => row).filter((row) => first[row] === mine);
  return [rows(1), rows(0)];
}

function fitOf(logits, labels, classes, rows) {
  const part = new Float64Array(rows.length * classes), mine = Int32Array.from(rows, (row) => labels[row]);
  rows.forEach((row, place) => part.set(logits.subarray(row * classes, (row + 1) * classes), place * classes));
  const looked = lookAt(part, mine, classes);
  if (looked.constant) return { value: 1, error: errorOf(1, part, mine, classes), warnings: [CONSTANT], misfit: "" };
  const at = looked.separated ? LIMITS[0] : looked.favours ? fitTemperature(part, mine, classes).temperature : LIMITS[1];
  if (at <= LIMITS[0] || at >= LIMITS[1] * (1 - 1e-9)) {
    return { value: at, error: NaN, warnings: [], misfit: whyNone(at, looked.right) };
  }
  return { value: at, error: errorOf(at, part, mine, classes), warnings: [], misfit: "" };
}

// Whether all logits of a row are equal, in each; whether each label has the largest; whether its
// class is the prediction; whether the logits of the labels lie above the mean of their rows.
function lookAt(logits, labels, classes) {
  let constant = true, separated = true, right = true, rise = 0;
  labels.forEach((label, row) => {
    const mine = logits.subarray(row * classes, (row + 1) * classes);
    let best = 0, sum = 0;
    for (let k = 0; k < classes; k += 1) {
      sum += mine[k];
      if (mine[k] > mine[best]) best = k;
      constant &&= mine[k] === mine[0];
    }
    separated &&= mine[label] === mine[best];
    right &&= label === best;
    rise += sum / classes - mine[label];
  });
  return { constant, separated, right, favours: rise < 0 };
}

function whyNone(value, right) {
  if (value >= 1) return NOT_FAVOURED;
  return right ? "every label has the highest score of its row, so that all certain is likeliest"
    : "the likelihood is best where the logits are multiplied by more than 1,000";
}

// The standard error of log T: by the residuals' own spread, or by what the model promises if larger.
function errorOf(value, logits, labels, classes) {
  let squares = 0, spread = 0;
  labels.forEach((label, row) => {
    const start = row * classes;
    let most = -Infinity, sum = 0, mean = 0, second = 0;
    for (let k = start; k < start + classes; k += 1) if (logits[k] > most) most = logits[k];
    for (let k = start; k < start + classes; k += 1) {
      const z = logits[k] - most, share = Math.exp(z / value);
      sum += share;
      mean += share * z;
      second += share * z * z;
    }
    mean /= sum;
    squares += (mean - (logits[start + label] - most)) ** 2;
    spread += second / sum - mean * mean;
  });
  return spread > 0 ? (Math.sqrt(Math.max(squares, spread)) / spread) * value : 0;
}
