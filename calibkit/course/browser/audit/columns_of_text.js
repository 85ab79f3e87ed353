// Rows of texts as columns of numbers, of true and false, or of words, as pandas and the command
// take them.
import { Column, Table } from "./table.js";
import { unsure } from "./refusals.js";

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const COMMA = /^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$/;
const WHOLE = /^[+-]?\d+$/;
const ODD = /^[+-]?(inf|nan)/i; // words of numbers that are none
const TRUE = ["True", "TRUE", "true"], FALSE = ["False", "FALSE", "false"];
const MOSTLY = 0.9; // of the cells are numbers: then the others are missing ones

// { names, rows, comma, lost } of readText -> a Table.
export function tableOf({ names, rows, comma, lost }) {
  const missing = new Set(lost);
  return new Table(names.map((name, place) => columnOf(name, rows, place, comma, missing)), rows.length);
}

function columnOf(name, rows, place, comma, missing) {
  const n = rows.length, grammar = comma ? COMMA : PLAIN, numbers = new Float64Array(n);
  let lost = 0, whole = true;
  for (let row = 0; row < n; row += 1) {
    let cell = rows[row][place];
    if (!grammar.test(cell)) cell = missing.has(cell) ? cell : cell.replace(/^[ \t]+|[ \t]+$/g, "");
    if (grammar.test(cell)) {
      numbers[row] = Number(comma ? cell.replace(",", ".") : cell);
      whole &&= WHOLE.test(cell);
    } else if (missing.has(rows[row][place])) {
      numbers[row] = NaN;
      lost += 1;
    } else {
      return ofWords(name, rows.map((cells) => cells[place]), missing, comma);
    }
  }
  return ofNumbers(name, numbers, whole && !lost);
}

function ofNumbers(name, numbers, whole) {
  for (const value of numbers) {
    if (Math.abs(value) > 1e15 && (whole || !Number.isFinite(value))) unsure(`Column "${name}" holds very large numbers.`);
  }
  return new Column(name, whole ? "i" : "f", numbers, null);
}

function ofWords(name, cells, missing, comma) {
  const words = cells.map((cell) => (missing.has(cell) ? null : cell));
  const filled = words.filter((word) => word !== null);
  if (filled.every((word) => TRUE.includes(word) || FALSE.includes(word))) {
    if (filled.length < words.length) unsure(`Column "${name}" holds true and false with gaps.`);
    return new Column(name, "b", Float64Array.from(words, (word) => Number(TRUE.includes(word))), null);
  }
  if (comma && words.some((word) => word !== null && COMMA.test(word.trim()) && word.includes(","))) {
    unsure(`Column "${name}" holds numbers with a decimal comma, and others.`);
  }
  return numbersOrWords(name, words);
}

// Texts such as 93 % as the numbers .93, other texts of numbers as these, the rest as it is.
export function numbersOrWords(name, words) {
  const filled = words.filter((word) => word !== null);
  if (!filled.length) return new Column(name, "f", new Float64Array(words.length).fill(NaN), null);
  demandNoLists(name, filled[0]);
  if (filled.some((word) => ODD.test(word.trim()))) unsure(`Column "${name}" holds "inf" or "nan" among words.`);
  const read = (change) => Float64Array.from(words, (word) => {
    const text = word === null ? "" : change(word.trim());
    return PLAIN.test(text) ? Number(text) : NaN;
  });
  if (filled.every((word) => word.trim().endsWith("%"))) {
    const bare = read((text) => text.replace(/[% \u00a0]+$/, "").replaceAll(",", "."));
    return ofNumbers(name, bare.map((value) => value / 100), false);
  }
  const share = (numbers) => numbers.reduce((sum, value) => sum + !Number.isNaN(value), 0) / filled.length;
  let numbers = read((text) => text);
  if (share(numbers) < MOSTLY) numbers = read((text) => text.replace(/^(-?\d+),(\d+)$/, "$1.$2"));
  const whole = words.every((word) => word !== null && WHOLE.test(word.trim()));
  if (share(numbers) >= MOSTLY) return ofNumbers(name, numbers, whole);
  return new Column(name, "O", null, words, filled.some(dependsOnPieces));
}

// pandas reads a large file in pieces. In a piece that holds numbers alone, 07 is 7, and where all is
// true or false, TRUE is True.
function dependsOnPieces(word) {
  const bare = word.trim();
  if (PLAIN.test(bare)) return String(Number(bare)) !== bare;
  return [...TRUE, ...FALSE].includes(bare) && !["True", "False"].includes(bare);
}

// A list of numbers in a cell is several columns to the command.
function demandNoLists(name, first) {
  if (!first.startsWith("[")) return;
  const parts = first.match(/[^[\],\s]+/g) ?? [];
  if (parts.every((part) => PLAIN.test(part) || ODD.test(part))) unsure(`Column "${name}" holds lists.`);
}
