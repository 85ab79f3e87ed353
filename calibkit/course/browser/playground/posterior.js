// The exact posterior: as the images are made by us, the chance of each class is known.
//
//   p(class k | x) = sum over the digits j of k of exp(-|x - digit_j|^2 / (2 noise^2))
//                    / the same sum over all digits
// |x|^2 is the same for all j and cancels, so that one product with each digit is enough. No
// network can do better on new images than this, and it is calibrated.
import { CLASSES, PIXELS } from "./digits.js";

const NOTHING = -45; // exp of less is below 1e-19

// images (n x 64) -> probabilities (n x 10).
export function posterior(digits, images, noise) {
  const n = images.length / PIXELS, probs = new Float64Array(n * CLASSES);
  const halves = halfSquares(digits), scores = new Float64Array(digits.count);
  const x = new Float64Array(PIXELS), precision = 1 / (noise * noise);
  for (let i = 0; i < n; i += 1) {
    x.set(images.subarray(i * PIXELS, (i + 1) * PIXELS));
    let most = -Infinity;
    for (let j = 0; j < digits.count; j += 1) {
      scores[j] = precision * (product(x, digits.images, j * PIXELS) - halves[j]);
      if (scores[j] > most) most = scores[j];
    }
    let sum = 0;
    for (let j = 0; j < digits.count; j += 1) {
      const off = scores[j] - most;
      if (off < NOTHING) continue;
      const weight = Math.exp(off);
      probs[i * CLASSES + digits.labels[j]] += weight;
      sum += weight;
    }
    for (let k = i * CLASSES; k < (i + 1) * CLASSES; k += 1) probs[k] /= sum;
  }
  return probs;
}

// |digit_j|^2 / 2 of each digit.
function halfSquares({ count, images }) {
  return Float64Array.from({ length: count }, (_, j) => {
    const digit = images.subarray(j * PIXELS, (j + 1) * PIXELS);
    return product(digit, images, j * PIXELS) / 2;
  });
}

// Four sums at a time, which a processor adds up side by side.
function product(x, images, start) {
  let a = 0, b = 0, c = 0, d = 0;
  for (let p = 0; p < PIXELS; p += 4) {
    a += x[p] * images[start + p];
    b += x[p + 1] * images[start + p + 1];
    c += x[p + 2] * images[start + p + 2];
    d += x[p + 3] * images[start + p + 3];
  }
  return a + b + (c + d);
}
