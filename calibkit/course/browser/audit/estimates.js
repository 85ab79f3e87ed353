// Values with their intervals of 95 %, where they follow from a formula, and which may be shown: those
// that a simulation has seen to cover as they say. As calibkit.auditing.intervals.
// trust: measure -> the least number of rows, of two classes and of more; null for never.
import { studentQuantile } from "./distributions.js";
import { wilson } from "../shared/metrics.js";

export const NONE = [NaN, NaN]; // the ends of an interval that this page does not have

export function estimate(value, [low, high] = NONE) {
  return { value, low, high, known: !Number.isNaN(low) && !Number.isNaN(high), clear: low > 0 || high < 0 };
}

export const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Wilson's interval of a share.
export function shareEnds(hits, count) {
  const [low, high] = wilson(hits, count);
  return [hits === 0 ? 0 : low, hits === count ? 1 : high];
}

// Student's interval of a mean, moved and widened by the skewness of the values (Johnson 1978).
export function meanEnds(values) {
  const n = values.length, mean = meanOf(values);
  if (!Number.isFinite(mean) || n < 2) return NONE;
  let second = 0, third = 0;
  for (const value of values) {
    const off = value - mean;
    second += off * off;
    third += off * off * off;
  }
  const error = Math.sqrt((second * n) / (n - 1)) / n, t = studentQuantile(n - 1);
  if (error === 0) return [mean, mean];
  const moved = (third / n ** 3 / error ** 2) * (1 / 6 + (t * t) / 3);
  return [Math.min(mean - t * error + moved, mean), Math.max(mean + t * error + moved, mean)];
}

// -> covers(measure, classes, n)
export const coverOf = (trust) => (measure, classes, n) => n >= (trust[measure][Number(classes > 2)] ?? Infinity);
