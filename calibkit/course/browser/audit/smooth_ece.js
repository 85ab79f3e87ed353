// Smooth ECE: a kernel instead of bins, whose width is the error itself.
// As calibkit.metrics.smooth: residuals on a grid, smoothed in the cosine basis.
import { rootOf } from "../shared/root.js";

const GRID = 1 << 14, COARSE = 1 << 11;

export function smoothEce({ confidence, correct, n }) {
  const spectrum = cosines(residuals(confidence, correct, n)).map((value) => value / 2);
  const error = (s) => smoothed(spectrum, s, s >= 32 / COARSE ? COARSE : GRID);
  const least = 1 / GRID;
  if (error(least) <= least) return error(least); // below a step of the grid no width matters
  return Math.min(rootOf((width) => error(width) - width, least, 2, 1e-11), 1);
}

// Sums of (confidence - hit) / n, each shared by the two nearest points; an end is its own mirror.
function residuals(confidence, correct, n) {
  const grid = new Float64Array(GRID + 2);
  for (let row = 0; row < n; row += 1) {
    const at = confidence[row] * GRID, cell = Math.floor(at), residual = (confidence[row] - correct[row]) / n;
    grid[cell] += residual * (1 - (at - cell));
    grid[cell + 1] += residual * (at - cell);
  }
  grid[0] *= 2;
  grid[GRID] *= 2;
  return grid.subarray(0, GRID + 1);
}

function smoothed(spectrum, width, points) {
  const part = new Float64Array(points + 1);
  for (let k = 0; k <= points; k += 1) part[k] = spectrum[k] * Math.exp(-0.5 * (width * Math.PI * k) ** 2);
  const size = cosines(part).map(Math.abs);
  return (size.reduce((sum, value) => sum + value, 0) - (size[0] + size[points]) / 2) / points;
}

// x_0 + (-1)^k x_N + 2 sum_j x_j cos(pi j k / N), by a Fourier transform of the mirrored values.
function cosines(values) {
  const points = values.length - 1, real = new Float64Array(2 * points), imaginary = new Float64Array(2 * points);
  for (let j = 0; j <= points; j += 1) real[j] = values[j];
  for (let j = 1; j < points; j += 1) real[2 * points - j] = values[j];
  fourier(real, imaginary);
  return real.subarray(0, points + 1);
}

// In place; the length is a power of 2 (Cooley & Tukey 1965).
function fourier(real, imaginary) {
  const n = real.length;
  for (let i = 1, j = 0; i < n; i += 1) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [real[i], real[j]] = [real[j], real[i]];
      [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
    }
  }
  for (let length = 2; length <= n; length *= 2) {
    const half = length / 2;
    for (let k = 0; k < half; k += 1) {
      const angle = (-2 * Math.PI * k) / length, c = Math.cos(angle), s = Math.sin(angle);
      for (let i = k; i < n; i += length) {
        const j = i + half, x = c * real[j] - s * imaginary[j], y = c * imaginary[j] + s * real[j];
        real[j] = real[i] - x;
        imaginary[j] = imaginary[i] - y;
        real[i] += x;
        imaginary[i] += y;
      }
    }
  }
}
