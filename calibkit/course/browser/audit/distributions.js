// The normal and Student's distribution.
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
