// What each look at a file shows.
import { Diagram } from "../shared/diagram.js";
import { summed } from "./file.js";

const OFF = 2.8; // standard errors that one of ten digits passes in one file of twenty

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
const points = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} points`;
const gapOf = ({ right, says, gap }) =>
  `Right ${percent(right)}, says ${percent(says)}: a signed gap of <b>${points(gap)}</b>`;
const errors = (z) => `${Math.abs(z).toFixed(1)} standard errors ${z < 0 ? "below" : "above"} zero`;

export const LOOKS = { // by name: the button's words, and what is put into an element
  whole: ["The whole file", (file, place) => {
    const all = file.of(), { ece, expected, p } = file.luck();
    drawn(place, "all 2,000 images", all.binned, `${gapOf(all)}. ECE ${percent(ece)};
by luck alone it would be ${percent(expected)} (p = ${p.toFixed(3)}).`);
  }],
  scanner: ["By scanner", (file, place) => {
    for (const name of ["new", "old"]) {
      const part = file.of((row) => row.scanner === name), { z } = summed(part.rows);
      drawn(place, `${name} scanner`, part.binned, `${gapOf(part)}, ${errors(z)}.`);
    }
  }],
  digit: ["By predicted digit", (file, place) => {
    const rows = file.digits().map(({ digit, n, says, right, found, z }) => {
      const cells = [n, percent(says), percent(right), percent(found), z.toFixed(1)].map((cell) => `<td>${cell}</td>`);
      return `<tr class="${Math.abs(z) > OFF ? "off" : ""}"><th scope="row">${digit}</th>${cells.join("")}</tr>`;
    });
    const heads = ["predicted", "times", "says", "right", "of its images found", "z"];
    place.insertAdjacentHTML("beforeend", `<div class="wide" tabindex="0" role="region" aria-label="Digits"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${rows.join("")}</tbody></table></div>
<p class="note">z: how many standard errors the confidence lies above how often it is right. Of ten digits of a calibrated
model, one has |z| above ${OFF} in one file of twenty (in bold).</p>`);
  }],
  second: ["Search the calibration file", (file, place) => {
    place.insertAdjacentHTML("beforeend", `<p><b>${file.duplicates.toLocaleString("en")}</b> of the 2,000 rows also stand
in the vendor's calibration file.</p>`);
  }],
};

function drawn(place, title, binned, words) {
  const figure = document.createElement("figure"), picture = document.createElement("div");
  figure.append(picture);
  figure.insertAdjacentHTML("beforeend", `<figcaption>${words}</figcaption>`);
  place.append(figure);
  new Diagram(picture, { title, most: 2000 }).show(binned);
}
