// Beyond the measures: classes, groups and the surest mistakes. As calibkit.auditing.findings.
import { ascending, pOfHits } from "./distributions.js";
import { BINS, eceOf, reliability } from "../shared/metrics.js";
import { furthestFirst } from "./concerns.js";
import { inOrder } from "./python_words.js";
import { meanEnds, meanOf } from "./estimates.js";
import { refuse } from "./refusals.js";

const ALPHA_OF_ALL = 0.05, MISTAKES = 20, MOST_GROUPS = 100;

// The confidences and hits of some rows.
const part = ({ confidence, correct }, rows) => ({
  confidence: Float64Array.from(rows, (row) => confidence[row]), correct: Uint8Array.from(rows, (row) => correct[row]),
});

// The rows of each of some groups; which: the group of each row.
function members(which, count) {
  const found = Array.from({ length: count }, () => []);
  which.forEach((group, row) => found[group].push(row));
  return found;
}

// A row a class, the worst calibrated first.
export function classTable(rows, names) {
  const { n, labels, predicted, correct, residual, classes } = rows, ofLabel = members(labels, classes);
  const table = members(predicted, classes).map((mine, k) => {
    const { confidence, correct: right } = part(rows, mine), samples = ofLabel[k].length;
    const said = meanOf(confidence), share = meanOf(right), p = mine.length ? pOfHits(confidence, right) : 1;
    let error = 0;
    for (let bin = 0; bin < BINS; bin += 1) error += Math.abs(residual[bin * classes + k]) / n;
    const rare = samples < n / classes / 4 || samples < 10, off = p < ALPHA_OF_ALL / classes;
    const flag = samples === 0 ? "no sample" : rare && off ? "rare, and off" : rare ? "rare" : off ? "off" : "";
    return { name: names[k], samples, recall: meanOf(ofLabel[k].map((row) => correct[row])), predicted: mine.length, said,
      right: share, gap: said - share, error, p, flag };
  });
  const rounded = ({ p }) => Math.round(p * 1e9); // what differs by rounding alone keeps its order
  return table.sort((a, b) => rounded(a) - rounded(b));
}

// The groups that are off with their temperatures, and by more than without.
export function furtherOff(rows, cooled, { which, names }) {
  return members(which, names.length).map((mine, k) => {
    const of = part(cooled, mine), p = mine.length ? pOfHits(of.confidence, of.correct) : 1;
    return { name: names[k], gap: gapOf(of).gap, before: gapOf(part(rows, mine)).gap, p };
  }).filter(({ gap, before, p }) => p < ALPHA_OF_ALL / names.length && Math.abs(gap) > Math.abs(before)).sort(furthestFirst);
}

// The signed gap of some rows, and the ends of its interval.
function gapOf({ confidence, correct }) {
  const gaps = confidence.map((said, i) => said - correct[i]), [low, high] = meanEnds(gaps);
  return { gap: meanOf(gaps), low: Math.max(low, -1), high: Math.min(high, 1) };
}

function gapOfEvent(rows) {
  const { gap, low, high } = gapOf(rows);
  return { event_gap: gap, event_low: low, event_high: high };
}

// The names of the groups of a column, in order, and which one each row is of.
export function groupsOf(column) {
  const words = column.places().map((row) => (column.lacks(row) ? "missing" : column.text(row)));
  const names = inOrder(new Set(words)), place = new Map(names.map((name, k) => [name, k]));
  if (names.length > MOST_GROUPS) {
    refuse(`groups must be at most ${MOST_GROUPS}, got ${names.length} values; cut a number into ranges first, for `
      + "example with pandas.qcut");
  }
  return { names, which: words.map((word) => place.get(word)) };
}

// A row a group: samples, accuracy, mean confidence, gap with its interval, ECE, p and flag; cooled: the rows with their
// temperatures, for the gap that is left, or null where none fits; event: of a binary model its eventRows, or null.
export function groupTable(rows, cooled, { names, which }, event) {
  return members(which, names.length).map((mine, k) => {
    const of = part(rows, mine), left = cooled === null ? { gap: NaN, low: NaN, high: NaN } : gapOf(part(cooled, mine));
    const p = pOfHits(of.confidence, of.correct), flag = p < ALPHA_OF_ALL / names.length ? "off" : "";
    return { name: names[k], samples: mine.length, accuracy: meanOf(of.correct), said: meanOf(of.confidence), ...gapOf(of),
      gap_left: left.gap, low_left: left.low, high_left: left.high, ece: eceOf(reliability(of)), p, flag,
      ...(event && gapOfEvent(part(event, mine))) };
  });
}

// The wrong predictions of largest confidence, by the index of their rows among those that were kept.
export function surestMistakes({ confidence, correct, predicted, labels, nll }, names) {
  const order = ascending(confidence.map((said) => -said)).filter((row) => !correct[row]).slice(0, MISTAKES);
  return Array.from(order, (row) => ({ index: row, predicted: names[predicted[row]], label: names[labels[row]],
    confidence: confidence[row], of_label: Math.exp(-nll[row]) }));
}
