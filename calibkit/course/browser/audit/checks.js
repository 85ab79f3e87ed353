// The checks of calibkit.auditing.checks, of what was read: where one fails, the file is left to the
// command, which has an option for each.
//
//   checkSorted(made), checkRight(found, made), checkRows(table, found, made)
import { unsure } from "./refusals.js";

const FEW = 20, MANY = 30; // rows from which on a rule that holds in all of them is no luck

export const ask = (why) => unsure(`${why} The command asks what it is.`);

export function checkSorted({ scores, classes, labels }) {
  if (classes < 2 || labels.length < FEW) return;
  let falls = true, rises = true;
  for (let row = 0; row < labels.length; row += 1) {
    for (let k = 1; k < classes; k += 1) {
      const step = scores[row * classes + k] - scores[row * classes + k - 1];
      falls &&= step <= 0;
      rises &&= step >= 0;
    }
  }
  if (falls || rises) ask("The scores are sorted from left to right in every row, as the k best are.");
}

export function checkRight({ event, predicted }, { scores, classes, labels }) {
  const n = labels.length;
  if (classes > 1) {
    let right = 0, absent = 0;
    const seen = new Set(labels), pairs = new Float64Array(classes * classes);
    for (let row = 0; row < n; row += 1) {
      let best = 0;
      for (let k = 1; k < classes; k += 1) if (scores[row * classes + k] > scores[row * classes + best]) best = k;
      right += best === labels[row];
      pairs[labels[row] * classes + best] += 1;
      absent += !seen.has(best);
    }
    if (n >= MANY && right === n) ask("The labels are what the scores say in every row: are they predictions?");
    // no order of the columns makes more predictions right than the commonest one of each label
    let best = 0;
    for (let k = 0; k < classes; k += 1) best += Math.max(...pairs.subarray(k * classes, (k + 1) * classes)) / n;
    const error = Math.sqrt(Math.max(best * (1 - best), 1 / n) / n), chance = Math.sqrt((2 * Math.log(classes)) / n);
    const clear = best - right / n >= Math.max(0.05, 3 * error, chance) && right <= 0.5 * n;
    if (clear || absent > 0.2 * n) ask("The largest score is seldom right: are the columns in the labels' order?");
    return;
  }
  const ones = [], zeros = [];
  labels.forEach((label, row) => (label ? ones : zeros).push(scores[row]));
  if (!ones.length || !zeros.length) {
    if (n >= MANY && predicted !== null) ask("Every prediction is right: are these the model's own labels?");
    return;
  }
  if (event) return;
  ones.sort((a, b) => a - b);
  zeros.sort((a, b) => a - b);
  if (n >= MANY && ones[0] > zeros.at(-1)) ask("A threshold parts the labels: the model's own predictions?");
  let below = 0, place = 0, same = 0;
  for (const one of ones) {
    while (place < zeros.length && zeros[place] < one) place += 1;
    same = place;
    while (same < zeros.length && zeros[same] === one) same += 1;
    below += place + (same - place) / 2;
  }
  const area = below / (ones.length * zeros.length);
  const error = Math.sqrt((ones.length + zeros.length + 1) / (12 * ones.length * zeros.length));
  if (area < 0.5 + 2 * error) ask("The scores hardly tell the labels, or tell the other label.");
}

// Rows that are the classes of a sample: values repeat whose scores sum to 1.
export function checkRows(table, found, { scores, classes, labels }) {
  const n = labels.length;
  if (classes > 1 || n < FEW) return;
  for (const name of table.names) {
    if (name === found.label || found.scores.includes(name)) continue;
    const column = table.of(name), sums = new Map();
    for (let row = 0; row < n; row += 1) sums.set(column.text(row), (sums.get(column.text(row)) ?? 0) + scores[row]);
    if (sums.size >= 5 && sums.size <= n / 2 && [...sums.values()].every((sum) => Math.abs(sum - 1) < 0.02)) {
      ask(`The scores of every value of '${name}' sum to 1: a row is a class, no sample.`);
    }
  }
}
