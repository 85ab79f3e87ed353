// Laws and ranks: the normal law, Student's, that of hits with chances of their own; ranks of numbers.
// As calibkit.auditing.hits_test and scipy.stats.
import { Z } from "../shared/metrics.js";

// The chance of a standard normal number below x.
export const normalBelow = (x) => (x < 0 ? tail(-x) : 1 - tail(x));

// The chance above x >= 0: near 0 by the series of the integral, further out as a continued fraction.
function tail(x) {
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x < 3) {
    let term = x, sum = x;
    for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) {
      term *= (x * x) / k;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let part = 0;
  for (let k = 100; k > 0; k -= 1) part = k / (x + part);
  return density / (x + part);
}

// The number that Student's t exceeds on either side in 5 % of all cases.
export function studentQuantile(freedom) {
  if (freedom >= 200) return farQuantile(freedom);
  // t = sqrt(freedom) tan(angle) has a density in proportion to cos(angle) ^ (freedom - 1)
  const upTo = (end) => simpson((angle) => Math.cos(angle) ** (freedom - 1), end), all = upTo(Math.PI / 2);
  let low = 0, high = Math.PI / 2;
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (low + high) / 2;
    if (upTo(middle) < 0.95 * all) low = middle;
    else high = middle;
  }
  return Math.sqrt(freedom) * Math.tan(low);
}

// By its expansion in 1 / freedom (Fisher & Cornish 1960).
function farQuantile(freedom) {
  const z = Z, v = 1 / freedom;
  return z + v * ((z ** 3 + z) / 4
    + v * ((5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
      + v * ((3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
        + v * ((79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160))));
}

function simpson(f, end, steps = 400) {
  const width = end / steps;
  let sum = f(0) + f(end);
  for (let k = 1; k < steps; k += 1) sum += (k % 2 ? 4 : 2) * f(k * width);
  return (sum * width) / 3;
}

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

// The places of numbers, the smallest first.
export function ascending(values) {
  return Uint32Array.from(values, (_, row) => row).sort((a, b) => values[a] - values[b] || a - b);
}

// The sum of the ranks (from 1 on) of the rows whose label is 1.
export function rankSums(values, labels) {
  const order = ascending(values);
  let sum = 0;
  for (let first = 0; first < order.length;) {
    let last = first, ones = 0;
    while (last < order.length && values[order[last]] === values[order[first]]) {
      ones += labels[order[last]];
      last += 1;
    }
    sum += (ones * (first + 1 + last)) / 2;
    first = last;
  }
  return sum;
}
