// What share of the answers is wrong if only the surest are given, and what that is in the mean.
import { ascending } from "./distributions.js";

export const COVERAGES = [1, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3];

// In the order from the surest row on: order, wrong (rows of one confidence share their errors), risk.
export function risks({ n, confidence, correct }) {
  const order = ascending(confidence.map((said) => -said));
  const wrong = new Float64Array(n), risk = new Float64Array(n);
  for (let first = 0; first < n;) {
    let last = first, errors = 0;
    while (last < n && confidence[order[last]] === confidence[order[first]]) {
      errors += 1 - correct[order[last]];
      last += 1;
    }
    wrong.fill(errors / (last - first), first, last);
    first = last;
  }
  let sum = 0;
  for (let place = 0; place < n; place += 1) {
    sum += wrong[place];
    risk[place] = sum / (place + 1);
  }
  return { order, wrong, risk };
}

// The AURC, and what each row adds to it beyond the mean, to first order.
export function areaUnderRisk(rows) {
  const { n } = rows, { order, wrong, risk } = risks(rows);
  const area = risk.reduce((sum, value) => sum + value, 0) / n, influence = new Float64Array(n);
  let ones = 0, parts = 0; // sums over all later places of 1 / place and of risk / place
  for (let place = n - 1; place >= 0; place -= 1) {
    ones += 1 / (place + 1);
    parts += risk[place] / (place + 1);
    influence[order[place]] = risk[place] - area + wrong[place] * ones - parts;
  }
  return { area, influence, curve: { order, risk } };
}

// Some coverages with the confidence from which on one answers, and the share that is wrong.
export function coverageTable({ n, confidence }, { order, risk }) {
  return COVERAGES.map((coverage) => {
    const place = Math.max(0, roundHalfEven(coverage * n) - 1);
    return { coverage: (place + 1) / n, threshold: confidence[order[place]], risk: risk[place] };
  });
}

function roundHalfEven(value) {
  const down = Math.floor(value);
  return value - down === 0.5 ? down + (down % 2) : Math.round(value);
}
