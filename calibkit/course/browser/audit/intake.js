// A file as the command reads it, or why this page does not.
//
//   intake(bytes, file, options) -> what reading.js gives
//   tableIn(bytes, file) -> its Table
// file: its name. options: texts of the form by their names; "" says nothing.
import { decode, readText } from "./text.js";
import { askedCosts } from "./costs.js";
import { read } from "./reading.js";
import { tableOf } from "./columns_of_text.js";
import { tableOfRecords } from "./records.js";
import { refuse, unsure } from "./refusals.js";

const LARGEST = 2 ** 28; // bytes
const TEXTS = [".csv", ".tsv", ".txt"], RECORDS = [".jsonl", ".ndjson", ".json"];

export const intake = (bytes, file, options) => read(tableIn(bytes, file), question(options));

export function tableIn(bytes, file) {
  if (bytes.length > LARGEST) unsure("The file is larger than a browser reads at once.");
  const ending = /\.[^.]*$/.exec(file.toLowerCase())?.[0] ?? "";
  if (![...TEXTS, ...RECORDS].includes(ending)) {
    unsure("This page reads texts, .csv, .tsv, .txt and .jsonl. The command reads more: .parquet, .feather, .npz, .npy, "
      + ".pt, and texts that are packed, .gz.");
  }
  const text = decode(bytes);
  if (!text.trim()) refuse("the file is empty");
  return TEXTS.includes(ending) ? tableOf(readText(text)) : tableOfRecords(text);
}

// The options as they are used: lists of names, texts for values, null for what is not said.
export function question(options) {
  const said = (name) => options[name]?.trim() || null;
  const list = (name) => said(name)?.split(",").map((part) => part.trim()) ?? null;
  for (const name of ["scores", "classes"]) {
    if (said(name)?.includes('"')) unsure("This page takes no quotation marks in lists of names.");
  }
  const first = said("first");
  if (first !== null && !/^-?\d+$/.test(first)) refuse("--first-class must be a whole number");
  return { label: said("label"), groups: said("groups"), scores: list("scores"), positive: said("positive"),
    first: first === null ? null : Number(first), classes: list("classes"), predicted: said("predicted"),
    kind: said("kind"), missing: said("missing"), drop: Boolean(options.drop),
    costs: askedCosts(said("alarm"), said("miss")) };
}
