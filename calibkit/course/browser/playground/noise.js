// An image is a digit at random plus noise on every pixel: x = digit + noise * e, e ~ N(0, 1).
// So there are as many images as one wants, and one knows how each was made.
import { CLASSES, PIXELS } from "./digits.js";

// n digits with the grain of their noise. sizes: how many of each class; without it any digit is
// as likely as any other. The first images stay the same when n grows.
export function drawDigits(digits, n, random, sizes = null) {
  const chosen = new Uint16Array(n), labels = new Uint8Array(n);
  const grain = new Float64Array(n * PIXELS);
  const ofSizes = sizes && sizes.flatMap((size, c) => Array(size).fill(c));
  for (let i = 0; i < n; i += 1) {
    const members = ofSizes && digits.ofClass[ofSizes[i]];
    chosen[i] = members ? members[random.integer(members.length)] : random.integer(digits.count);
    labels[i] = digits.labels[chosen[i]];
    for (let p = i * PIXELS; p < (i + 1) * PIXELS; p += 1) grain[p] = random.normal();
  }
  return { chosen, labels, grain };
}

// The images of these digits under noise of one strength, as 32-bit numbers.
export function withNoise(digits, { chosen, grain }, noise) {
  const images = new Float32Array(grain.length);
  for (let i = 0; i < chosen.length; i += 1) {
    const from = chosen[i] * PIXELS, to = i * PIXELS;
    for (let p = 0; p < PIXELS; p += 1) {
      images[to + p] = digits.images[from + p] + noise * grain[to + p];
    }
  }
  return images;
}

// How many of n images each class has, where the commonest has rho times as many as the rarest:
// each class in a random order is rarer than the one before by the same factor (lesson 07).
export function rareSizes(n, rho, random) {
  const order = random.permutation(CLASSES);
  const shares = Array.from({ length: CLASSES }, (_, place) => rho ** (-place / (CLASSES - 1)));
  const total = shares.reduce((sum, share) => sum + share, 0);
  const sizes = Array(CLASSES).fill(0);
  let left = n;
  for (let place = CLASSES - 1; place >= 0; place -= 1) { // the commonest takes what is left
    const size = place ? Math.max(1, Math.round((n * shares[place]) / total)) : left;
    sizes[order[place]] = size;
    left -= size;
  }
  return sizes;
}
