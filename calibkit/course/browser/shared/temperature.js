// Temperature scaling: one number T that divides all logits, chosen by the least NLL.
//
//   fitTemperature(logits, labels, classes) -> { temperature, clamped }
// As calibkit.recalibration.nll_temperature: the root of the slope of the NLL in log(1 / T).
// clamped: the NLL falls up to an end of LIMITS; look at the data before using such a T.
import { rootOf } from "./root.js";

export const LIMITS = [1e-3, 1e3];

export function fitTemperature(logits, labels, classes) {
  let low = -Math.log(LIMITS[1]), high = -Math.log(LIMITS[0]); // of log(1 / T)
  const slope = (u) => slopeOf(logits, labels, classes, Math.exp(u));
  if (slope(low) >= 0) return { temperature: LIMITS[1], clamped: true };
  if (slope(high) <= 0) return { temperature: LIMITS[0], clamped: true };
  if (slope(-2) < 0 && slope(2) > 0) [low, high] = [-2, 2]; // it mostly lies here
  return { temperature: Math.exp(-rootOf(slope, low, high, 1e-12)), clamped: false };
}

// d/dbeta of sum_i -log softmax(beta z_i)[y_i]: the sum of E z - z_y. It rises with beta.
function slopeOf(logits, labels, classes, beta) {
  let total = 0;
  for (let i = 0; i < labels.length; i += 1) {
    const row = i * classes;
    let most = -Infinity, sum = 0, mean = 0;
    for (let k = row; k < row + classes; k += 1) if (logits[k] > most) most = logits[k];
    for (let k = row; k < row + classes; k += 1) {
      const off = logits[k] - most, chance = Math.exp(beta * off);
      sum += chance;
      mean += chance * off;
    }
    total += mean / sum - (logits[row + labels[i]] - most);
  }
  return total;
}
