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
  if (["predicted", "classes", "first", "missing"].some(said) || said("kind") === "logprobs") {
    unsure("Predictions, logarithms, marks, and classes in an order of their own are read by the command.");
  }
  if (said("scores")?.includes('"')) unsure("This page takes no quotation marks in lists of names.");
  const scores = said("scores")?.split(",").map((part) => part.trim()) ?? null;
  return { label: said("label"), groups: said("groups"), scores, positive: said("positive"), kind: said("kind"),
    drop: Boolean(options.drop), costs: askedCosts(said("alarm"), said("miss")) };
}
