// What columns of scores hold, and how far from 1 rounded rows may sum.
import { unsure } from "./refusals.js";

const MOST_OFF = 0.05; // of the sum of a row, whatever its rounding
const TOLERANCE = 1e-4;
const SOME = 1000; // rows that tell how numbers were rounded
const HALF = 4 * 2 ** -7; // what rows of 16 bits may miss the sum by at most

// columns: Float64Arrays of n finite numbers -> their extremes, and the sums of their rows.
export function contentOf(columns) {
  const n = columns[0].length, sums = new Float64Array(n);
  let low = Infinity, high = -Infinity;
  for (const column of columns) {
    for (let row = 0; row < n; row += 1) {
      sums[row] += column[row];
      if (column[row] < low) low = column[row];
      if (column[row] > high) high = column[row];
    }
  }
  return { columns, n, sums, low, high };
}

// Whether all rows are positive and have this sum, but for the rounding of numbers with few decimals.
// Numbers that once had 16 bits may miss it by more; of those it is not sure.
export function sumsTo({ columns, sums, low }, total) {
  const off = sums.reduce((most, sum) => Math.max(most, Math.abs(sum / total - 1)), 0);
  if (low < 0 || off > MOST_OFF) return false;
  if (off <= TOLERANCE) return true;
  const decimals = decimalsOf(columns, total);
  if (decimals === null && off <= HALF) unsure("The rows do not sum to 1, as numbers of 16 bits may do.");
  return decimals > 1 && off <= Math.min((columns.length / 2) * 10 ** -decimals, MOST_OFF) * (1 + 1e-6);
}

// With how many decimals, 1 to 6, these numbers are written; null if with more.
function decimalsOf(columns, total) {
  for (let decimals = 1; decimals <= 6; decimals += 1) {
    const scale = 10 ** decimals, least = Number.EPSILON * scale;
    const fits = columns.every((column) => column.subarray(0, SOME).every((value) => {
      const units = (value / total) * scale;
      return Math.abs(units - Math.round(units)) <= least;
    }));
    if (fits) return decimals;
  }
  return null;
}
