// JSON lines, or one JSON list of records, as a Table. Cells that hold lists are not read here.
import { Column, Table } from "./table.js";
import { numbersOrWords } from "./columns_of_text.js";
import { quoted } from "./python_words.js";
import { unsure } from "./refusals.js";

export function tableOfRecords(text) {
  const records = parsed(text.replace(/^\ufeff/, "").trim()), known = new Set();
  for (const record of records) {
    if (record === null || typeof record !== "object" || Array.isArray(record)) unsure("A line is no JSON record.");
    for (const name of Object.keys(record)) {
      if (/^\d+$/.test(name)) unsure("A name is a number, and JavaScript forgets the order of such names.");
      known.add(name);
    }
  }
  const names = [...known];
  if (new Set(names.map((name) => name.trim())).size < names.length) unsure("Two names differ by blanks alone.");
  return new Table(names.map((name) => columnOf(name, records)), records.length);
}

function parsed(text) {
  try {
    if (text.startsWith("[")) return JSON.parse(text);
    return text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  } catch {
    return unsure("The file holds no JSON record a line.");
  }
}

function columnOf(name, records) {
  const cells = records.map((record) => record[name] ?? null), filled = cells.filter((cell) => cell !== null);
  const kinds = new Set(filled.map((cell) => typeof cell));
  if (kinds.size > 1 || kinds.has("object")) unsure(`Column ${quoted(name)} holds lists, or cells of several kinds.`);
  const [kind] = kinds, gaps = filled.length < cells.length, plain = name.trim();
  if (kind === "string") {
    if (filled.some((cell) => !cell.trim())) unsure(`Column ${quoted(name)} holds empty texts.`);
    return numbersOrWords(plain, cells);
  }
  if (kind === "boolean" && gaps) unsure(`Column ${quoted(name)} holds true and false with gaps.`);
  const numbers = Float64Array.from(cells, (cell) => (cell === null ? NaN : Number(cell)));
  if (kind === "boolean") return new Column(plain, "b", numbers, null);
  if (numbers.some((number) => Math.abs(number) > 1e15)) unsure(`Column ${quoted(name)} holds very large numbers.`);
  return new Column(plain, !gaps && filled.every(Number.isInteger) ? "i" : "f", numbers, null);
}
