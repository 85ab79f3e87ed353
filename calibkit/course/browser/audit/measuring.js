// Every measure of a sample, with its interval where a formula gives it; and paired differences.
// As calibkit.auditing.measures, whose intervals of binned errors are drawn at random; without smooth ECE.
import { BINS, eceOf, mceOf, reliability } from "../shared/metrics.js";
import { NONE, estimate, meanEnds, meanOf, shareEnds } from "./estimates.js";
import { areaUnderRisk } from "./risk.js";

export const MEASURES = {
  accuracy: "accuracy", confidence: "mean confidence", gap: "signed gap", ece: "ECE", ada_ece: "adaptive ECE",
  debiased_ece: "debiased ECE", smooth_ece: "smooth ECE", mce: "MCE", overconfidence_error: "over-confidence error",
  classwise_ece: "classwise ECE", nll: "NLL, nats", brier: "Brier score", aurc: "AURC",
};
const MEANS = ["confidence", "gap", "nll", "brier"];
const LOWEST = { gap: -1 }, HIGHEST = { nll: Infinity, brier: 2 };

export class Measured {
  // rows: of judging.js. covers(measure, classes, n): whether an interval is known to hold.
  constructor(rows, covers) {
    const { n, confidence, correct, nll, brier, classes, residual } = rows;
    Object.assign(this, { rows, covers });
    const gap = confidence.map((said, row) => said - correct[row]);
    this.each = { accuracy: Float64Array.from(correct), confidence, gap, nll, brier };
    this.wide = reliability(rows);
    const even = reliability(rows, BINS, inEdges(massEdges(confidence)));
    this.aurc = areaUnderRisk(rows);
    const over = sumOver(this.wide, (gapOf, said) => said * Math.max(gapOf, 0));
    this.values = {
      accuracy: meanOf(this.each.accuracy), confidence: meanOf(confidence), gap: meanOf(gap),
      ece: eceOf(this.wide), ada_ece: eceOf(even), debiased_ece: debiased(even), smooth_ece: NaN,
      mce: mceOf(this.wide), overconfidence_error: over,
      classwise_ece: residual.reduce((sum, value) => sum + Math.abs(value), 0) / n / classes,
      nll: meanOf(nll), brier: meanOf(brier), aurc: this.aurc.area,
    };
  }

  get estimates() {
    return Object.fromEntries(Object.keys(MEASURES).map((name) => [name, this.estimate(name)]));
  }

  estimate(name) {
    const value = this.values[name], [low, high] = Number.isFinite(value) ? this.ends(name) : NONE;
    if (Number.isNaN(low)) return estimate(value);
    return estimate(value, [Math.max(Math.min(low, value), LOWEST[name] ?? 0),
      Math.min(Math.max(high, value), HIGHEST[name] ?? 1)]);
  }

  ends(name) {
    const { n, classes, correct } = this.rows;
    if (name === "accuracy") return shareEnds(correct.reduce((sum, hit) => sum + hit, 0), n);
    if (MEANS.includes(name)) return meanEnds(this.each[name]);
    if (name !== "aurc" || !this.covers("aurc", classes, n)) return NONE;
    return meanEnds(this.aurc.influence.map((moved) => moved + this.aurc.area));
  }

  // Measure by measure this one less the other of the same rows, paired.
  less(other) {
    return Object.fromEntries(Object.keys(MEASURES).map((name) => {
      const value = this.values[name] - other.values[name];
      const ends = Number.isFinite(value) ? this.pairedEnds(other, name, value) : NONE;
      return [name, estimate(value, [Math.min(ends[0], value), Math.max(ends[1], value)])];
    }));
  }

  pairedEnds(other, name, value) {
    const { n, classes } = this.rows;
    if (name === "accuracy" || MEANS.includes(name)) {
      return meanEnds(this.each[name].map((one, row) => one - other.each[name][row]));
    }
    if (name !== "aurc" || !this.covers("aurc paired", classes, n)) return NONE;
    return meanEnds(this.aurc.influence.map((moved, row) => moved - other.aurc.influence[row] + value));
  }

  // The standard error of the ECE less that of the other, by the signs of the gaps of the bins.
  errorOfRise(other) {
    const signed = ({ wide, each }) => each.gap.map((gap, row) => {
      const bin = wide.bin[row];
      return gap * Math.sign(wide.confidence[bin] - wide.accuracy[bin]);
    });
    const mine = signed(this), theirs = signed(other), moved = mine.map((one, row) => one - theirs[row]);
    const mean = meanOf(moved);
    return Math.sqrt(moved.reduce((sum, one) => sum + (one - mean) ** 2, 0)) / moved.length;
  }
}

// Edges half-way between the neighbours at each cut of the sorted values into runs of equal length.
function massEdges(values) {
  const ordered = Float64Array.from(values).sort(), n = ordered.length, each = Math.floor(n / BINS);
  return Array.from({ length: BINS - 1 }, (_, k) => {
    const cut = (k + 1) * each + Math.min(k + 1, n % BINS);
    return cut < n ? (ordered[cut - 1] + ordered[cut]) / 2 : 1;
  });
}

// The bin of a value: how many inner edges lie below it.
const inEdges = (edges) => (value) => {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

// The mean over samples of f(gap, confidence, accuracy, count) of their bins.
function sumOver({ n, counts, confidence, accuracy }, f) {
  return counts.reduce((sum, count, bin) =>
    (count ? sum + (count / n) * f(confidence[bin] - accuracy[bin], confidence[bin], accuracy[bin], count) : sum), 0);
}

// The root of the mean square gap, less what the noise of the accuracies adds to it.
function debiased(binned) {
  const square = sumOver(binned, (gap, _, right, count) =>
    (count >= 2 ? gap * gap - (right * (1 - right)) / (count - 1) : 0));
  return Math.sqrt(Math.max(square, 0));
}
