// Words, numbers and tables as HTML. What comes from the visitor's file is escaped here.
import { MEASURES } from "./measuring.js";
import { DRAWN } from "./export.js";

const HARMLESS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => HARMLESS[letter]);

export const minus = (text) => text.replace("-", "−");
const finite = (value) => typeof value === "number";

// A fraction in per cent.
export const percent = (share, digits = 1) => (finite(share) ? minus(`${(100 * share).toFixed(digits)}\u00a0%`) : "–");

export const count = (number) => number.toLocaleString("en-US");

// A value of a measure: shares in per cent, others as they are.
export function number(name, value, signed = false) {
  if (value === "infinity") return "∞";
  if (!finite(value)) return "–";
  const share = !["nll", "brier"].includes(name), sign = signed && value >= 0 ? "+" : "";
  return minus(`${sign}${share ? `${(100 * value).toFixed(2)}\u00a0%` : value.toFixed(4)}`);
}

// A cell of { value, interval }; of a difference the value is bold where the interval leaves 0 out.
export function cell(name, { value, interval }, signed = false) {
  const words = number(name, value, signed);
  if (!interval) return words;
  const [low, high] = interval.map((end) => number(name, end, signed).replace("\u00a0%", ""));
  const strong = signed && isClear({ interval }) ? `<strong>${words}</strong>` : words;
  return `${strong}<small>${low} to ${high}</small>`;
}

export const isClear = ({ interval }) => Boolean(interval) && (interval[0] > 0 || interval[1] < 0);

// " (low to high)", or nothing.
export function ends(name, { interval }, signed = false) {
  return interval ? ` (${interval.map((end) => number(name, end, signed)).join(" to ")})` : "";
}

// A table in a frame that scrolls where it is wider than the page; cells are HTML.
export function table(caption, head, rows) {
  const columns = head.map((words) => (words ? `<th scope="col">${words}</th>` : "<td></td>")).join("");
  const lines = rows.map(([first, ...others]) =>
    `<tr><th scope="row">${first}</th>${others.map((one) => `<td>${one}</td>`).join("")}</tr>`).join("\n");
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escaped(caption)}">
<table><caption>${escaped(caption)}</caption><thead><tr>${columns}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

// A row a measure. What has no interval because the command draws it at random has a mark.
export function compared(first, second, gain) {
  return Object.entries(MEASURES).filter(([name]) => first[name].value !== null).map(([name, words]) => {
    const mark = DRAWN.includes(name) ? '<span class="mark"> *</span>' : "";
    const others = second ? [cell(name, second[name]), cell(name, gain[name], true)] : [];
    return [words + mark, cell(name, first[name]), ...others];
  });
}

export const pValue = (p) => (p > 0.001 ? `p = ${p.toFixed(3)}` : "p ≤ 0.001");
