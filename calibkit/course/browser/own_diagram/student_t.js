// The mean of a few numbers with its Student t interval, and what it says about a claim, as
// calibkit.course.verdicts has them.
//   intervalOf(values) -> { mean, low, high }, 95 %: mean -+ t * s / sqrt(n)
//   wordOf({ low, high }, expect, margin) -> HOLDS, NOT MET, REVERSED or INCONCLUSIVE
//   verdictOf(claim, statement, values, expect) -> { word, mean, low, high, line }
const LEVEL = 0.95;
const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

export function intervalOf(values) {
  const n = values.length;
  if (n < 2) throw new Error(`an interval needs at least 2 numbers, got ${n}`);
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = quantileOf(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, low: mean - half, high: mean + half };
}

// Above or below 0 by a margin; an interval of zero width decides nothing.
export function wordOf({ low, high }, expect = "below", margin = 0) {
  if (low === high) return "INCONCLUSIVE";
  const tidy = (value) => Math.round(value * 1e12) / 1e12;
  const [from, to] = expect === "below" ? [tidy(-high), tidy(-low)] : [tidy(low), tidy(high)];
  if (from > margin) return "HOLDS";
  if (to < 0) return "REVERSED";
  return from > 0 && to < margin ? "NOT MET" : "INCONCLUSIVE";
}

export function verdictOf(claim, statement, values, expect = "below") {
  const found = intervalOf(values), word = wordOf(found, expect);
  const [mean, low, high] = [found.mean, found.low, found.high].map((v) => (v < 0 ? "" : "+") + v.toFixed(3));
  const line = `${claim} ${word}: ${statement} | ${mean} [${low}, ${high}] 95% over ${values.length} students`;
  return { ...found, word, line };
}

// The number that Student's t stays below, on both sides, with probability LEVEL.
export function quantileOf(freedom) {
  // in x = freedom / (freedom + t^2), which lies between 0 and 1: P(|t| > q) = I_x(freedom / 2, 1 / 2)
  let low = 0, high = 1;
  for (let halving = 0; halving < 200 && high > low; halving += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (incompleteBeta(middle, freedom / 2, 0.5) < 1 - LEVEL) low = middle;
    else high = middle;
  }
  return Math.sqrt((freedom * (1 - low)) / low);
}

// The regularised incomplete beta function, by its continued fraction.
function incompleteBeta(x, a, b) {
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1, d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / d;
  let fraction = d;
  for (let m = 1; m < 1000; m += 1) { // Lentz's method, two terms at a time
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return front * fraction;
}

// Lanczos' approximation, for arguments of at least 1/2.
function logGamma(x) {
  const base = x + 6.5;
  const sum = LANCZOS.reduce((total, weight, k) => total + (k ? weight / (x - 1 + k) : weight), 0);
  return (x - 0.5) * Math.log(base) - base + Math.log(2 * Math.PI) / 2 + Math.log(sum);
}
