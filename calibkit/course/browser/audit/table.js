// A table: columns by their names, in order.
import { floatText } from "./python_words.js";

export class Column {
  // kind: "i" whole numbers, "f" numbers, "b" true and false, "O" words: the letters of numpy.
  // numbers: a Float64Array, NaN where one is missing; words: texts, null where one is missing.
  constructor(name, kind, numbers, words) {
    Object.assign(this, { name, kind, numbers, words });
    this.length = (numbers ?? words).length;
  }

  lacks(row) {
    return this.words ? this.words[row] === null : Number.isNaN(this.numbers[row]);
  }

  // str() of a cell.
  text(row) {
    if (this.words) return this.words[row] ?? "nan";
    if (this.kind === "b") return this.numbers[row] ? "True" : "False";
    return this.kind === "i" ? String(this.numbers[row]) : floatText(this.numbers[row]);
  }

  rows(kept) {
    const part = (values) => (values ? kept.map((row) => values[row]) : null);
    const numbers = this.numbers ? Float64Array.from(kept, (row) => this.numbers[row]) : null;
    return new Column(this.name, this.kind, numbers, part(this.words));
  }

  places() {
    return Array.from({ length: this.length }, (_, row) => row);
  }

  filled() {
    return this.places().filter((row) => !this.lacks(row));
  }
}

export class Table {
  constructor(columns, length) {
    this.columns = columns;
    this.length = length;
    this.byName = new Map(columns.map((column) => [column.name, column]));
  }

  get names() {
    return this.columns.map(({ name }) => name);
  }

  of(name) {
    return this.byName.get(name);
  }

  rows(kept) {
    return kept.length === this.length ? this
      : new Table(this.columns.map((column) => column.rows(kept)), kept.length);
  }
}

// --- what a column holds ---

export const isNumber = (column) => "if".includes(column.kind) && column.numbers.some((value) => !Number.isNaN(value));

export const holdsBinary = (column) => column.kind !== "O"
  && column.numbers.every((value) => value === 0 || value === 1 || Number.isNaN(value));

export const holdsFractions = (column) => column.kind === "f"
  && column.numbers.some((value) => !Number.isNaN(value) && !Number.isInteger(value));
