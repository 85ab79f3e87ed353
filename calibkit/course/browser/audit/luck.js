// How surprising the hits of some samples are, if each has the chance that its confidence says.
// As calibkit.auditing.luck.
import { normalBelow } from "./distributions.js";

const NORMAL_FROM = 30; // variance of the number of hits from which its law is taken for a normal one
const NOTHING = 1e-25; // chances below it are left out

// Two-sided p-value; 1 for no sample.
export function pOfHits(chances, hits) {
  let variance = 0, off = 0, count = 0;
  for (let i = 0; i < chances.length; i += 1) {
    variance += chances[i] * (1 - chances[i]);
    off += chances[i] - hits[i];
    count += hits[i];
  }
  if (variance >= NORMAL_FROM) return 2 * normalBelow(-Math.abs(off) / Math.sqrt(variance));
  const { first, law } = lawOfHits(chances), seen = law[count - first] ?? 0;
  return Math.min(1, law.reduce((sum, chance) => (chance <= seen * (1 + 1e-7) ? sum + chance : sum), 0));
}

// law[j]: the chance of first + j hits (Poisson's binomial). Only what can come is kept.
export function lawOfHits(chances) {
  let first = 0, law = [1];
  for (const chance of chances) {
    const next = new Array(law.length + 1).fill(0);
    law.forEach((value, j) => {
      next[j] += value * (1 - chance);
      next[j + 1] += value * chance;
    });
    let from = 0, to = next.length;
    while (next[from] < NOTHING && from < to - 1) from += 1;
    while (next[to - 1] < NOTHING && to > from + 1) to -= 1;
    first += from;
    law = next.slice(from, to);
  }
  return { first, law };
}
