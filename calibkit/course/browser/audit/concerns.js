// Plain warnings: what should make a reader doubt the numbers. As calibkit.auditing.advice.
import { grouped } from "./python_words.js";

const THIN = 30; // samples that a bin should hold
const FEW = 1000; // samples that a test set should hold
const NAMED = 8, ADVISED = 3; // groups, or classes, in a warning and in the advice
const LEAST_AGAIN = 0.01; // of the rows may repeat others without a word
const TOO_NEAR = 0.01; // standard errors of log T: so near to 1 comes by luck once in 125 test sets

export function concerns({ rows, wide }, cooling, event) {
  const found = [], filled = wide.counts.filter((count) => count > 0), thin = filled.filter((count) => count < THIN).length;
  if (rows.n < FEW) {
    found.push(`${grouped(rows.n)} samples are few: below about 1,000 a calibration error is mostly the `
      + "luck of the sample; look at the test and at its power");
  }
  if (thin) {
    found.push(`too few samples a bin: ${thin} of ${filled.length} filled bins hold fewer `
      + `than ${THIN}. Their bars say little, and the MCE may rest on one of them alone`);
  }
  found.push(...ofLabels(rows, event), ...cooling.warnings);
  if (cooling.misfit) found.push(`no temperature fits: ${cooling.misfit}`);
  else if (Math.abs(Math.log(cooling.value)) < TOO_NEAR * cooling.error) {
    found.push("the best temperature on this test set is 1 to within a hundredth of its standard "
      + "error. By luck that happens once in 125 times: was the model calibrated on this "
      + "very test set? Then every calibration error below is flattered");
  }
  return found;
}

function ofLabels({ labels, classes, nll, predicted }, event) {
  const present = new Set(labels), found = [];
  const absent = Array.from({ length: classes }, (_, k) => k).filter((k) => !present.has(k));
  if (absent.length) {
    found.push(`${absent.length} of ${classes} classes have no sample (number ${absent.slice(0, 8).join(", ")}`
      + `${absent.length > 8 ? " ..." : ""}): nothing is said about them`);
  }
  const impossible = nll.reduce((sum, loss) => sum + (loss === Infinity), 0);
  if (impossible) {
    found.push(`${impossible} labels were given probability 0: the likelihood is infinite. Store `
      + "logits, or probabilities that are not rounded. For the temperature a 0 is taken as "
      + "half the smallest probability that occurs");
  }
  if (!event && predicted.every((one) => one === predicted[0])) {
    found.push(`class number ${predicted[0]} is predicted for every sample`);
  }
  return found;
}

// The groups that are off, and the predicted classes, the furthest first; classes: null of answers. Of classes of which
// half or more are off, the worst are named.
export function off(groups, classes) {
  const found = [];
  for (const [kind, table] of [["groups", groups ?? []], ["predicted classes", classes ?? []]]) {
    const some = table.filter(({ flag }) => flag.includes("off")).sort(furthestFirst);
    const most = kind !== "groups" && 2 * some.length >= table.length ? ADVISED : NAMED;
    if (some.length) {
      const share = `${some.length} of ${grouped(table.length)} ${kind}`;
      found.push(`${share} are off by more than luck explains: ${named(some, most)}`);
    }
  }
  return found;
}

export const furthestFirst = (a, b) => Math.abs(b.gap) - Math.abs(a.gap);

function named(table, most) {
  const words = table.slice(0, most).map(({ name, gap }) =>
    `${name} (${gap < 0 ? "-" : "+"}${Math.abs(100 * gap).toFixed(1)} points)`);
  return words.join(", ") + (table.length > most ? ` and ${table.length - most} more` : "");
}

// What the advice adds: by kind, the groups that are further off with the temperature.
export function notForAll(further) {
  const parts = Object.entries(further).filter(([, table]) => table.length)
    .map(([kind, table]) => `${kind} ${named(table, ADVISED)}`);
  return parts.length ? ` on average, not for all: further off with it are ${parts.join("; ")}` : "";
}

// Whether rows repeat earlier ones, scores and label. Scores of few values repeat too, but then
// with other labels as often as their probabilities say; copies never have another.
export function repeated({ values, n, classes }, { labels, confidence }) {
  const places = new Map(), marks = marksOf(values, n, classes);
  marks.forEach((mark, row) => {
    const at = places.get(mark) ?? { size: 0, sure: 0, labels: new Set() };
    at.size += 1;
    at.sure += confidence[row];
    at.labels.add(labels[row]);
    places.set(mark, at);
  });
  let expected = 0, mixed = 0, pairs = 0;
  for (const { size, sure, labels: seen } of places.values()) {
    expected += 1 - (sure / size) ** size - (1 - sure / size) ** size;
    mixed += seen.size > 1 ? 1 : 0;
    pairs += seen.size;
  }
  const again = n - pairs;
  if (again < LEAST_AGAIN * n || expected < 3 || mixed > expected / 2) return [];
  return [`${grouped(again)} of ${grouped(n)} rows repeat an earlier row, its scores and its label. Copies `
    + "of one sample make every interval and every p-value surer than they are: keep one of "
    + "each, or name the column that says which rows belong together (--cluster COLUMN, clusters=)"];
}

// A text for each row, equal for equal ones: the bits of its scores in float32.
function marksOf(values, n, classes) {
  const bits = new Uint16Array(Float32Array.from(values).buffer), width = 2 * classes;
  return Array.from({ length: n }, (_, row) => String.fromCharCode(...bits.subarray(row * width, (row + 1) * width)));
}
