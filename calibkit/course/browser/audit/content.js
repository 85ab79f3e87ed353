// What a walk over columns of scores finds, and how far from 1 rounded rows may sum.
import { unsure } from "./refusals.js";

const MOST_OFF = 0.05; // of the sum of a row, whatever its rounding
const TOLERANCE = 1e-4;
const SOME = 1000; // rows that tell how numbers were rounded
const HALF = 4 * 2 ** -7; // what rows of 16 bits may miss the sum by at most

// columns: Float64Arrays of n numbers -> the extremes of the finite rows, their sums, the bad rows.
export function contentOf(columns) {
  const n = columns[0].length, sums = new Float64Array(n), bad = new Uint8Array(n);
  let low = Infinity, high = -Infinity;
  for (const column of columns) for (let row = 0; row < n; row += 1) sums[row] += column[row];
  const some = [];
  for (let row = 0; row < n; row += 1) {
    bad[row] = Number(!Number.isFinite(sums[row]));
    if (!bad[row] && some.length < SOME) some.push(row);
  }
  for (const column of columns) {
    for (let row = 0; row < n; row += 1) {
      if (bad[row]) continue;
      if (column[row] < low) low = column[row];
      if (column[row] > high) high = column[row];
    }
  }
  return { columns, n, sums, bad, low, high, some };
}

// Whether all finite rows are positive and have this sum, but for their rounding.
export function sumsTo(found, total) {
  if (found.low < 0 || found.bad.every(Boolean)) return false;
  const off = furthest(found, total);
  if (off <= TOLERANCE) return true;
  if (off > MOST_OFF) return false;
  return off <= roundedTolerance(found.columns, found.some, total, off) * (1 + 1e-6);
}

// By how much the sum of a finite row misses the total, as a part of it, at most.
export function furthest({ sums, bad }, total) {
  let off = 0;
  for (let row = 0; row < sums.length; row += 1) {
    if (!bad[row]) off = Math.max(off, Math.abs(sums[row] / total - 1));
  }
  return off;
}

// How far from 1 rows of these numbers may sum, by the decimals that they are written with.
// off: what is to be judged. Numbers that once had 16 bits may miss it by more; of those it is not sure.
export function roundedTolerance(columns, rows, total, off) {
  const decimals = decimalsOf(columns, rows, total);
  if (decimals === null) {
    if (off > TOLERANCE && off <= HALF) unsure("The rows do not sum to 1, as numbers of 16 bits may do.");
    return TOLERANCE;
  }
  if (decimals < 2) return TOLERANCE;
  return Math.max(TOLERANCE, Math.min((columns.length / 2) * 10 ** -decimals, MOST_OFF));
}

// With how many decimals, 1 to 6, all these numbers are written; null if with more.
function decimalsOf(columns, rows, total) {
  for (let decimals = 1; decimals <= 6; decimals += 1) {
    const scale = 10 ** decimals, least = Number.EPSILON * scale;
    const fits = columns.every((column) => rows.every((row) => {
      const units = (column[row] / total) * scale;
      return Math.abs(units - Math.round(units)) <= least;
    }));
    if (fits) return decimals;
  }
  return null;
}
