// A binary model: the probability of its event, and what decisions made from it cost.
// As calibkit.auditing.binary, without Platt scaling.
import { ascending } from "./distributions.js";
import { costsOf } from "./costs.js";
import { eventRows } from "./judging.js";
import { Measured } from "./measuring.js";
import { estimate, meanEnds, meanOf } from "./estimates.js";

const THRESHOLDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

// as it is, and with its temperature: Measured. names: of the two classes. costs: of a false alarm
// and of a miss, or null.
export function eventOf(before, after, names, costs) {
  const mine = new Measured(eventRows(before.rows), before.covers);
  const cooled = new Measured(eventRows(after.rows), before.covers), gain = cooled.less(mine);
  const { confidence, correct } = mine.rows, rate = meanOf(correct), usual = Number(rate >= 0.5);
  return { event: names[1], rate, predicted: mine.values.confidence, usual: names[usual],
    usual_accuracy: Math.max(rate, 1 - rate), gap: mine.estimate("gap"), ece: mine.estimate("ece"),
    auc: aucOf(mine), diagram: mine.wide, maps: { "as it is": three(mine.estimates), temperature: three(cooled.estimates) },
    gain: { temperature: three(gain) }, net_benefit: netBenefit(confidence, correct, rate), measured: mine, cooled,
    ...(costs && { costs: costsOf([["as it is", mine.rows], ["temperature", cooled.rows]], costs) }) };
}

const three = ({ nll, brier, ece }) => ({ nll, brier, ece });

// The chance that a row with the event scores above one without it, ties counted half.
function aucOf({ rows: { confidence, correct, n }, covers }) {
  const ones = correct.reduce((sum, hit) => sum + hit, 0), zeros = n - ones;
  if (!ones || !zeros) return estimate(NaN);
  const order = ascending(confidence), each = new Float64Array(n);
  let auc = 0;
  for (let first = 0, below = [0, 0]; first < n;) {
    let last = first;
    const here = [0, 0];
    while (last < n && confidence[order[last]] === confidence[order[first]]) {
      here[correct[order[last]]] += 1;
      last += 1;
    }
    const share = (of, count) => (below[of] + here[of] / 2) / count;
    for (let place = first; place < last; place += 1) {
      each[order[place]] = correct[order[place]] ? share(0, zeros) : 1 - share(1, ones);
    }
    auc += (here[1] * share(0, zeros)) / ones;
    below = below.map((count, of) => count + here[of]);
    first = last;
  }
  if (!covers("auc", 2, n)) return estimate(auc);
  const moved = each.map((value, row) => auc + ((value - auc) / (correct[row] ? ones : zeros)) * n);
  const [low, high] = meanEnds(moved);
  return estimate(auc, [Math.max(Math.min(low, auc), 0), Math.min(Math.max(high, auc), 1)]);
}

// What acting from a threshold on is worth, in events found for nothing, a row (Vickers & Elkin 2006).
function netBenefit(score, event, rate) {
  const n = score.length;
  return THRESHOLDS.map((threshold) => {
    let found = 0, alarms = 0;
    score.forEach((said, row) => {
      if (said >= threshold) event[row] ? found += 1 : alarms += 1;
    });
    const odds = threshold / (1 - threshold);
    return { threshold, acted: (found + alarms) / n, found: found / n, alarms: alarms / n,
      benefit: found / n - (alarms / n) * odds, all: rate - (1 - rate) * odds };
  });
}
