// Rows of texts as columns of numbers or of words, as the command takes them.
import { Column, Table } from "./table.js";
import { unsure } from "./refusals.js";

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const WHOLE = /^[+-]?\d+$/;
const ODD = /^[+-]?(inf|nan)/i; // words of numbers that are none
const MOSTLY = 0.9; // of the cells are numbers: then the others are missing ones

// { names, rows, comma, lost } of readText -> a Table.
export function tableOf({ names, rows, comma, lost }) {
  const missing = new Set(lost), pointed = (text) => (comma ? text.replace(/^(-?\d+),(\d+)/, "$1.$2") : text);
  const cells = (place) => rows.map((row) => (missing.has(row[place]) ? null : pointed(row[place])));
  const columns = names.map((name, place) => ({ name, words: cells(place) }));
  const record = columns.find(({ words }) => words.find((word) => word !== null)?.startsWith("{"));
  if (record) unsure(`Column "${record.name}" holds records.`);
  return new Table(columns.map(({ name, words }) => numbersOrWords(name, words)), rows.length);
}

// Texts such as 93 % as the numbers .93, other texts of numbers as these, the rest as it is; null is missing.
export function numbersOrWords(name, words) {
  const filled = words.filter((word) => word !== null), n = filled.length;
  if (!n) return new Column(name, "f", new Float64Array(words.length).fill(NaN), null);
  demandNoLists(name, filled[0]);
  if (filled.some((word) => ODD.test(word.trim()))) unsure(`Column "${name}" holds "inf" or "nan" among words.`);
  const read = (change) => Float64Array.from(words, (word) => {
    const text = word === null ? "" : change(word.trim());
    return PLAIN.test(text) ? Number(text) : NaN;
  });
  const percent = filled.reduce((sum, word) => sum + word.trim().endsWith("%"), 0);
  if (percent === n) {
    const bare = read((text) => text.replace(/[% \u00a0]+$/, "").replaceAll(",", "."));
    return ofNumbers(name, bare.map((value) => value / 100), false);
  }
  const share = (numbers) => numbers.reduce((sum, value) => sum + !Number.isNaN(value), 0) / n;
  let numbers = read((text) => text);
  if (share(numbers) < MOSTLY) numbers = read((text) => text.replace(/^(-?\d+),(\d+)$/, "$1.$2"));
  if (percent || share(numbers) < MOSTLY) return new Column(name, "O", null, words);
  return ofNumbers(name, numbers, words.every((word) => word !== null && WHOLE.test(word.trim())));
}

function ofNumbers(name, numbers, whole) {
  for (const value of numbers) {
    if (Math.abs(value) > 1e15 && (whole || !Number.isFinite(value))) unsure(`Column "${name}" holds very large numbers.`);
  }
  return new Column(name, whole ? "i" : "f", numbers, null);
}

// A list of numbers in a cell is several columns to the command.
function demandNoLists(name, first) {
  if (!first.startsWith("[")) return;
  const parts = first.match(/[^[\],\s]+/g) ?? [];
  if (parts.every((part) => PLAIN.test(part) || ODD.test(part))) unsure(`Column "${name}" holds lists.`);
}
