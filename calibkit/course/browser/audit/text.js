// A text of values apart by commas, semicolons, tabs or bars, as rows of texts.
//
//   decode(bytes) -> the text of a file
//   readText(text) -> { names, rows, comma, lost }
// comma: whether decimals are written with one. lost: the words that stand for no value.
// What is not laid out plainly (a comment, no header, rows of other lengths) is not read here.
import { refuse, unsure } from "./refusals.js";
import { listed, quoted } from "./python_words.js";

const MISSING = ["", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "-nan"];
const NUMBER = /^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?\s*%?$/;
const LOOKED_AT = 2 ** 20; // letters that tell how a text is laid out

export function decode(bytes) {
  const marks = (bytes[0] << 8) | bytes[1];
  const coding = marks === 0xfffe ? "utf-16le" : marks === 0xfeff ? "utf-16be" : "utf-8";
  const head = bytes.subarray(0, 64);
  if (coding === "utf-8" && head.includes(0)) unsure("The file is no plain text in UTF-8.");
  try {
    return new TextDecoder(coding, { fatal: true }).decode(bytes);
  } catch {
    return unsure("The file is not in UTF-8 or UTF-16.");
  }
}

export function readText(text) {
  if (text.includes("\r")) text = text.replaceAll("\r\n", "\n");
  if (text.includes("\r")) unsure("Some lines end in a bare carriage return.");
  if (text.includes("\0")) unsure("The file holds bytes of 0.");
  const lines = text.slice(0, LOOKED_AT).split("\n"), stated = /^sep=(.)$/.exec(lines[0].trim());
  const start = stated ? 1 : 0, head = lines[start] ?? "";
  if (!head.trim() || head.startsWith("#") || (lines[start + 1] ?? "").startsWith("#")) {
    unsure("The file does not begin with a header.");
  }
  const count = (sign) => head.split(sign).length - 1; // of equals the first
  const apart = stated ? stated[1] : [",", ";", "\t", "|"].reduce((a, b) => (count(b) > count(a) ? b : a));
  if (!head.includes(apart) || !",;\t|".includes(apart)) unsure("No comma, semicolon or tab parts the columns.");
  const [above] = cellsOf(head, apart), cells = above.map((cell) => cell.trim().replace(/^'+|'+$/g, ""));
  demandNames(cells);
  const names = cells.map((cell, place) => cell.trim() || `Unnamed: ${place}`);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) refuse(`the file has several columns ${quoted(twice)}: give each its own name`);
  const below = lines.slice(0, start + 1).reduce((sum, line) => sum + line.length + 1, 0);
  const rows = cellsOf(text.slice(below), apart), odd = rows.findIndex((row) => row.length !== names.length);
  if (odd >= 0) {
    unsure(`Row ${odd} has ${rows[odd].length} values below ${names.length} names (the first row is 0).`);
  }
  const numeric = names.map((_, k) => k).filter((k) => rows.slice(2, 8).every((row) => NUMBER.test(row[k].trim())));
  const second = numeric.map((k) => rows[0][k].trim());
  const named = second.some((cell) => !MISSING.includes(cell)) && !second.some((cell) => NUMBER.test(cell));
  const drawn = rows.slice(0, 3).some((row) => /^[:+ -]*---[:+ -]*$/.test(row.join("")));
  const again = rows.some((row) => row.every((cell, k) => cell.trim() === names[k]));
  if (drawn || again || (named && rows.length > 3)) unsure("Not every row is one of values.");
  const comma = apart !== "," && lines.slice(start + 1, start + 60).some((line) => /\d,\d/.test(line));
  return { names, rows, comma, lost: MISSING.filter((word) => !names.some((name) => ends(name, word))) };
}

function demandNames(cells) {
  const numbers = cells.filter((cell) => NUMBER.test(cell));
  if (numbers.length === cells.length || numbers.some((cell) => !/^\d+$/.test(cell))) {
    unsure(`The file has no header: its first line starts with the values ${listed(cells.slice(0, 4))}. `
      + `Write a first line with the names of its ${cells.length} columns, or run the command with --columns.`);
  }
  if (cells.some((cell) => /(?![0-9])[\p{N}]/u.test(cell))) unsure("A name holds digits of an unusual kind.");
}

// Whether a column stands for a class that is called like a missing value, p_NA say.
const ends = (name, word) => Boolean(word) && name.trim().split(/[_ .]/).at(-1) === word;

// Rows of values. Those in quotes may hold what parts columns and lines; blanks before a value are
// none of it, unless they stand in quotes; empty lines are no rows.
function cellsOf(text, apart) {
  const sign = apart === "|" ? "\\|" : apart, blanks = apart === "\t" ? " *" : "[ \\t]*", end = `(${sign}|\\n|$)`;
  const cell = new RegExp(` *"([^"]*(?:""[^"]*)*)"${end}|${blanks}([^"\\n${sign}]*)${end}`, "y");
  const rows = [];
  for (let row = []; cell.lastIndex < text.length;) {
    const [whole, quotedCell, ended, plain, over] = cell.exec(text)
      ?? unsure("A quotation mark is never closed, or stands in the midst of a value.");
    if (whole === "\n" && !row.length) continue;
    row.push(quotedCell?.replaceAll('""', '"') ?? plain);
    if ((ended ?? over) === apart) {
      if (cell.lastIndex < text.length) continue;
      row.push("");
    }
    rows.push(row);
    row = [];
  }
  return rows;
}
