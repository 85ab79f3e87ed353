// Laws and ranks: the normal law, Student's, that of hits with chances of their own; ranks of numbers.
// As calibkit.auditing.findings and scipy.stats.

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

const QUANTILES = new Map(); // of Student's t, by its degrees of freedom

// The number that Student's t exceeds on either side in 5 % of all cases.
export function studentQuantile(freedom) {
  if (!QUANTILES.has(freedom)) QUANTILES.set(freedom, quantile(freedom));
  return QUANTILES.get(freedom);
}

// t = sqrt(freedom) tan(angle) has a density in proportion to cos(angle) ^ (freedom - 1).
function quantile(freedom) {
  const whole = Math.min(Math.PI / 2, 10 / Math.sqrt(freedom)), each = 400; // nothing is left beyond
  const upTo = (end) => {
    const density = (k) => Math.cos((k * end) / each) ** (freedom - 1);
    let sum = density(0) + density(each);
    for (let k = 1; k < each; k += 1) sum += (k % 2 ? 4 : 2) * density(k);
    return (sum * end) / each / 3; // by Simpson's rule
  };
  const all = upTo(whole);
  let low = 0, high = whole;
  for (let halving = 0; halving < 50; halving += 1) {
    const middle = (low + high) / 2;
    if (upTo(middle) < 0.95 * all) low = middle;
    else high = middle;
  }
  return Math.sqrt(freedom) * Math.tan(low);
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
