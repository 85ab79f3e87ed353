// Numbers and texts as Python writes them, so that both ways of an audit use the same words.
import { unsure } from "./refusals.js";

// A number in the style of Python's :.4g.
export function shortNumber(value, digits = 4) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e"), exponent = Number(power);
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < digits) return bare(fixed(value, digits - 1 - exponent));
  return `${bare(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

// str(float): 1 is "1.0", and what is small has an exponent earlier than in JavaScript.
export function floatText(value) {
  if (Number.isNaN(value)) return "nan";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e16) return `${value}.0`;
  if (size >= 1e-4 && size < 1e16) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

// :.1f; a number in the very middle goes to the even side, as in Python.
export function fixed(value, digits) {
  const units = value * 10 ** digits, down = Math.floor(units);
  const middle = units - down === 0.5 && units / 10 ** digits === value;
  return (middle ? (down % 2 ? down + 1 : down) / 10 ** digits : value).toFixed(digits);
}

// repr(text).
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replaceAll("\\", "\\\\");
  return `${mark}${mark === "'" ? inside.replaceAll("'", "\\'") : inside}${mark}`;
}

export const listed = (texts) => `[${texts.map((one) => (typeof one === "number" ? one : quoted(one))).join(", ")}]`;
export const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

// str.casefold(). Of the letters whose folding is more than that of a small letter, it is not sure.
export function folded(text) {
  const low = text.toLowerCase();
  if (low.toUpperCase().toLowerCase() !== low) unsure(`Small and capital letters of "${text}" are not clear.`);
  return low;
}

// sorted(): by the numbers of the letters.
export const inOrder = (texts) => [...texts].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
