// Rows of columns that sum to 1 or to 100, as probabilities of all classes do.
import { contentOf, sumsTo } from "./content.js";

const MOST_OFF = 0.05; // of the sum of a row, whatever its rounding
const MOST_SEARCHED = 60; // columns among which rows of sum 1 are searched
const ROWS_SEARCHED = 300;
const SORTED_ROWS = 20; // from so many on, columns that fall in every row are no classes

const columnsOf = (table, names) => names.map((name) => table.of(name).numbers);

// The finite rows among the first ones, as lists.
function headOf(columns, most = ROWS_SEARCHED) {
  const rows = [];
  for (let row = 0; row < Math.min(most, columns[0].length); row += 1) {
    const cells = columns.map((column) => column[row]);
    if (cells.every(Number.isFinite)) rows.push(cells);
  }
  return rows;
}

const sum = (cells) => cells.reduce((total, value) => total + value, 0);
const near = (rows) => [1, 100].some((total) => rows.every((cells) => Math.abs(sum(cells) / total - 1) <= MOST_OFF));

// Whether the rows of columns, not all of them constant, sum to 1 or to 100.
export function sumToOne(table, names) {
  if (names.length < 2) return false;
  const columns = columnsOf(table, names), head = headOf(columns);
  if (!head.length || !near(head)) return false;
  const constant = head.every((cells) => cells.every((value, k) => value === head[0][k]));
  if (head.length > 1 && constant) return false;
  const found = contentOf(columns);
  return sumsTo(found, 1) || sumsTo(found, 100);
}

// All columns, or else the longest runs of neighbours, whose rows sum to 1 or 100.
export function onSimplex(table, names) {
  if (sumToOne(table, names)) return [names];
  if (names.length <= 2 || names.length > MOST_SEARCHED) return [];
  const found = [];
  for (let start = 0; start < names.length - 1;) {
    const stop = stopOf(table, names, start);
    if (stop) found.push(names.slice(start, stop));
    start = stop || start + 1;
  }
  return found;
}

function stopOf(table, names, start) {
  for (let stop = names.length; stop > start + 1; stop -= 1) {
    const run = names.slice(start, stop), rows = headOf(columnsOf(table, run));
    if (rows.length && near(rows) && rows.every((cells) => Math.min(...cells) >= 0) && sumToOne(table, run)) return stop;
  }
  return 0;
}

// Whether columns fall in every row, as the k best scores do.
export function fallFromLeftToRight(table, names) {
  if (table.length < SORTED_ROWS) return false;
  return headOf(columnsOf(table, names), Infinity)
    .every((cells) => cells.every((value, k) => k === 0 || value <= cells[k - 1]));
}

// Whether a column says no more than a set does: one of its columns, or its largest.
export function repeats(table, name, names) {
  const own = table.of(name).numbers, columns = columnsOf(table, names);
  const largest = own.map((_, row) => columns.reduce((most, column) =>
    (Number.isNaN(column[row]) || column[row] > most ? column[row] : most), -Infinity));
  return [...columns, largest].some((column) =>
    own.every((value, row) => Number.isNaN(value) || Math.abs(column[row] - value) < 1e-6));
}
