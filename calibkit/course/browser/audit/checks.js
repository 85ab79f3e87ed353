// The checks of what was read, as calibkit.auditing.checks or stricter: where one fires, the file is
// left to the command, which says what it found and asks.
import { SPLIT_WORDS, decides, ranks } from "./names.js";
import { rankSums } from "./distributions.js";
import { holdsFractions } from "./table.js";
import { unsure } from "./refusals.js";

const FEW = 20, MANY = 30; // rows
const MOST_RUNS = 20; // that stand one below the other
const POINTS = 0.05; // by which another order must be better
const FOLLOWS = 0.9; // area under the ROC curve of a score for what is predicted by it
const ABSENT = 0.2; // of the rows are predicted as classes that no label names
const BELOW = 2, CLEARLY = 3; // standard errors of an area under the ROC curve

const found = (what) => unsure(`${what}. The command says more of it, and asks.`);

// Whether scores fit the labels better than by chance. scores: n rows of `classes` numbers, of one class
// those of the label 1; labels: places.
export function fits(scores, labels, classes) {
  if (classes === 1) return Math.abs(areaOf(scores, labels).z) >= CLEARLY;
  const n = labels.length, said = largest(scores, n, classes), counts = [new Float64Array(classes), new Float64Array(classes)];
  [labels, said].forEach((places, k) => places.forEach((place) => { counts[k][place] += 1 / n; }));
  const chance = counts[0].reduce((sum, share, k) => sum + share * counts[1][k], 0);
  return said.filter((place, row) => place === labels[row]).length / n - chance > 4 * Math.sqrt((chance * (1 - chance)) / n);
}

// scores: n rows of `classes` numbers; labels: places.
export function checkClasses(scores, labels, classes) {
  const n = labels.length, said = largest(scores, n, classes);
  const strange = Array.from({ length: classes }, (_, k) => scores.some((score, at) => at % classes === k
    && score !== 0 && score !== 1) && scores.every((score, at) => at % classes !== k || Number.isInteger(score)));
  if (strange.includes(true) && scores.some((score) => !Number.isInteger(score))) {
    found("A column of whole numbers stands among the scores, as a fold or a count");
  }
  const sums = new Float64Array(classes);
  scores.forEach((score, at) => { sums[at % classes] += score; });
  const order = [...sums.keys()].sort((a, b) => sums[b] - sums[a]);
  const alike = (row) => order.every((k, at) => !at || scores[row * classes + k] <= scores[row * classes + order[at - 1]]);
  if (n >= FEW && labels.every((_, row) => alike(row))) {
    found("All rows have the same order of scores, as the best of more classes have");
  }
  const mine = said.reduce((sum, place, row) => sum + (place === labels[row]), 0) / n;
  if (n >= MANY && mine === 1) found("The labels are what the scores say in every row: the model's own predictions?");
  const present = new Set(labels), absent = said.reduce((sum, place) => sum + !present.has(place), 0) / n;
  if (absent > ABSENT) found("Many rows are predicted as classes that no label names");
  const apart = classes === 2 ? Float64Array.from(labels, (_, row) => scores[2 * row + 1] - scores[2 * row]) : null;
  if (apart && areaOf(apart, labels).z < -BELOW) found("The scores fit the other order of the two classes better");
  if (mine > 0.5) return;
  const pairs = new Float64Array(classes * classes);
  labels.forEach((place, row) => { pairs[place * classes + said[row]] += 1; });
  const each = Array.from({ length: classes }, (_, k) => k);
  const most = (at) => each.reduce((sum, a) => sum + each.reduce((top, b) => Math.max(top, pairs[at(a, b)]), 0), 0) / n;
  // no order is right more often than this
  const best = Math.min(most((a, b) => a * classes + b), most((a, b) => b * classes + a));
  if (best - mine >= Math.max(POINTS, Math.sqrt((2 * Math.log(classes)) / n))) {
    found("Half of the predictions are wrong, and the labels may belong to other columns");
  }
}

function largest(scores, n, classes) {
  return Int32Array.from({ length: n }, (_, row) => {
    let best = 0;
    for (let k = 1; k < classes; k += 1) if (scores[row * classes + k] > scores[row * classes + best]) best = k;
    return best;
  });
}

// One column of scores of the label 1, which is `positive`. others: the other columns of these rows.
export function checkOne(scores, labels, others, positive) {
  const n = labels.length, ones = labels.reduce((a, b) => a + b, 0), rate = ones / n;
  const mean = scores.reduce((a, b) => a + b, 0) / n, least = scores.reduce((a, b) => Math.min(a, b));
  if (n >= FEW && least >= 0.5) found("No score is below one half: it may be of what each row predicts");
  if (mean > 20 * rate) found("The scores say far more than the labels: they may be per cent");
  if (ones && ones < n) {
    const { area, z } = areaOf(scores, labels);
    if (z < BELOW) found("The scores do not fit the label clearly: they may be of the other");
    if (area === 1) found("A threshold parts the labels: are they the model's own predictions?");
  }
  if (n >= FEW && others.some((column) => sumsOfParts(column, scores))) {
    found("The scores of rows that share a value sum to 1: a row a class, no samples");
  }
  for (const column of others.filter(({ name }) => decides(name))) {
    const said = Int32Array.from(labels, (_, row) => Number(column.text(row).trim() === positive));
    const { area, z } = areaOf(scores, said);
    if (z !== 0 && area < FOLLOWS) found("The scores do not rise with the predictions beside them");
  }
  demandUnranked(others);
}

// The confidence of answers. labels: 1 where an answer is right. others: the other columns of these rows.
export function checkAnswers(scores, labels, others) {
  if (areaOf(scores, labels).z < -CLEARLY) found("The scores are lower where answers are right");
  const high = labels.filter((_, row) => scores[row] > 0.5), order = [...labels.keys()].sort((a, b) => scores[a] - scores[b]);
  const lowest = order.slice(0, FEW);
  if (high.length >= FEW && !high.includes(0) && lowest.every((row) => scores[row] < 0.5 && !labels[row])) {
    found("The scores may be the probability of the label: all answers above one half are right");
  }
  demandUnranked(others);
  if (scores.length >= FEW && others.some((column) => sumsOfParts(column, scores, (sum) => sum < 1.03))) {
    found("The scores of rows that share a value sum to 1 or less: the best of more classes, no samples");
  }
}

function demandUnranked(others) {
  if (others.some(({ name }) => ranks(name))) found("A column of ranks may say that rows are the best of more classes, no samples");
}

// Rows that stand once for each model or epoch, or beside those that were trained on. others: the other columns.
export function demandOneRun(others, n) {
  const values = others.filter((column) => !holdsFractions(column)).map((column) => column.places().map((row) => column.text(row)));
  const sizes = values.map((own) => new Set(own).size);
  for (const [k, own] of values.entries()) {
    const words = new Set(own.map((word) => word.toLowerCase()));
    if (words.size > 1 && [...words].every((word) => SPLIT_WORDS.has(word)) && [...words].some((word) => word.startsWith("train"))) {
      found("Rows that were trained on stand beside others");
    }
    const crossed = (ids, at) => sizes[at] >= FEW && sizes[at] < n && n % (sizes[at] * sizes[k]) === 0
      && new Set(ids.map((id, row) => `${id}\0${own[row]}`)).size === sizes[at] * sizes[k];
    if (sizes[k] > 1 && sizes[k] <= MOST_RUNS && values.some(crossed)) found("Samples stand once for each value of a column");
  }
}

// The area under the ROC curve, and by how many standard errors it lies above one half.
function areaOf(scores, labels) {
  const n = labels.length, ones = labels.reduce((a, b) => a + b, 0), pairs = ones * (n - ones);
  const area = pairs ? (rankSums(scores, labels) - (ones * (ones + 1)) / 2) / pairs : 0.5;
  return { area, z: pairs ? (area - 0.5) / Math.sqrt((n + 1) / (12 * pairs)) : 0 };
}

function sumsOfParts(column, scores, fits = (sum) => Math.abs(sum - 1) < 0.03) {
  const sums = new Map();
  scores.forEach((score, row) => sums.set(column.text(row), (sums.get(column.text(row)) ?? 0) + score));
  return sums.size >= 5 && sums.size <= scores.length / 2 && [...sums.values()].every(fits);
}
