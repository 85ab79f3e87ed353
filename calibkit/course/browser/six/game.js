// The game: six letters, looks at their files, a fault for each letter, the score.
import { Diagram } from "../shared/diagram.js";
import { Random } from "../shared/random.js";
import { buildThemeSwitch } from "../shared/theme.js";
import { File, summed } from "./file.js";

const LETTERS = ["A", "B", "C", "D", "E", "F"];
const RIGHT = 10; // points for a fault that is rightly named; a look costs one
const LOOKS = { whole: "The whole file", scanner: "By scanner", digit: "By predicted digit", second: "Search the calibration file" };
const CLUES = {
  "too sure": "a gap far above zero, on both scanners",
  "noisy labels": "a gap far below zero; much mixup would look alike",
  "two scanners": "hardly a gap on the whole, but one above zero on one scanner and one below on the other",
  "rare class": "one digit is off: seldom predicted, and then more often right than stated",
  leak: "half of the rows stand in the calibration file, too, and flatter every other number",
  none: "nothing, or one flag by luck",
};
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const points = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} points`;
const at = (id) => document.getElementById(id);

export class Game {
  constructor(sets) {
    this.sets = sets;
    this.best = null;
    buildThemeSwitch(at("theme"));
    at("new").addEventListener("click", () => this.deal(this.number + 1));
    at("hand-in").addEventListener("click", () => this.handIn());
    at("letters").addEventListener("change", (event) => this.choose(event.target.value));
    at("looks").addEventListener("click", (event) => event.target.dataset.look && this.look(event.target.dataset.look));
    at("faults").addEventListener("change", () => this.count());
    const asked = Number(new URLSearchParams(location.hash.slice(1)).get("files"));
    this.deal(Number.isInteger(asked) && asked > 0 ? asked : 1);
  }

  // Files number 1, 2, ...: a set of models, and another order of the letters each time.
  deal(number) {
    this.number = number;
    this.set = this.sets[(number - 1) % this.sets.length];
    const faults = Object.keys(CLUES), order = new Random(number, "letters").permutation(LETTERS.length);
    this.faultOf = Object.fromEntries(LETTERS.map((letter, i) => [letter, faults[order[i]]]));
    this.files = Object.fromEntries(LETTERS.map((letter) => [letter, new File(this.set.labels, this.set.models[this.faultOf[letter]])]));
    this.seen = new Set();
    this.over = false;
    history.replaceState(null, "", `#files=${number}`);
    at("number").textContent = `Files number ${number}`;
    at("letters").innerHTML = LETTERS.map((letter) =>
      `<label><input type="radio" name="letter" value="${letter}"> file ${letter}</label>`).join("");
    at("faults").innerHTML = LETTERS.map((letter) => `<label>${letter} <select id="fault-${letter}"><option value="">?</option>${
      faults.map((fault) => `<option>${fault}</option>`).join("")}</select></label>`).join("");
    at("result").hidden = true;
    this.choose("A");
    this.count();
  }

  choose(letter) {
    this.letter = letter;
    at("letters").querySelector(`[value="${letter}"]`).checked = true;
    this.show();
  }

  look(name) {
    this.seen.add(`${this.letter} ${name}`);
    this.show();
    this.count();
  }

  // All looks at the chosen file that were paid for.
  show() {
    const file = this.files[this.letter];
    at("looks").innerHTML = Object.entries(LOOKS).map(([name, words]) =>
      `<button type="button" data-look="${name}" ${this.sees(name) ? "disabled" : ""}>${words}</button>`).join(" ");
    at("seen").innerHTML = "";
    for (const name of Object.keys(LOOKS)) if (this.sees(name)) this[name](file, section(`File ${this.letter}: ${LOOKS[name].toLowerCase()}`));
  }

  sees(name) {
    return this.over || this.seen.has(`${this.letter} ${name}`);
  }

  whole(file, place) {
    const { right, says, gap, binned } = file.of(), { ece, expected, p } = file.luck();
    drawn(place, "all 2,000 images", binned, `Right ${percent(right)}, says ${percent(says)}: a signed gap of <b>${points(gap)}</b>.
ECE ${percent(ece)}; by luck alone it would be ${percent(expected)} (p = ${p.toFixed(3)}).`);
  }

  scanner(file, place) {
    for (const name of ["new", "old"]) {
      const rows = (row) => row.scanner === name, { right, says, gap, binned } = file.of(rows), { z } = summed(file.rows.filter(rows));
      drawn(place, `${name} scanner`, binned, `Right ${percent(right)}, says ${percent(says)}: a signed gap of <b>${points(gap)}</b>, ${errors(z)}.`);
    }
  }

  digit(file, place) {
    const rows = file.digits().map(({ digit, n, says, right, found, z }) =>
      `<tr class="${Math.abs(z) > 2.8 ? "off" : ""}"><th scope="row">${digit}</th><td>${n}</td><td>${percent(says)}</td><td>${percent(right)}</td><td>${percent(found)}</td><td>${z.toFixed(1)}</td></tr>`);
    place.insertAdjacentHTML("beforeend", `<div class="wide" tabindex="0" role="region" aria-label="Digits of file ${this.letter}"><table><thead><tr>
<th scope="col">predicted</th><th scope="col">times</th><th scope="col">says</th><th scope="col">right</th><th scope="col">of its images found</th><th scope="col">z</th></tr></thead>
<tbody>${rows.join("")}</tbody></table></div>
<p class="note">z: how many standard errors the confidence lies above how often it is right. Of ten digits of a calibrated model, one has |z| above 2.8 in one file of twenty (in bold).</p>`);
  }

  second(file, place) {
    place.insertAdjacentHTML("beforeend", `<p><b>${file.duplicates.toLocaleString("en")}</b> of the 2,000 rows also stand in the vendor's calibration file.</p>`);
  }

  count() {
    const open = LETTERS.filter((letter) => !at(`fault-${letter}`).value).length;
    at("paid").textContent = `${this.seen.size} looks`;
    at("hand-in").disabled = this.over || open > 0;
    at("open").textContent = open && !this.over ? `${open} of 6 letters have no fault yet` : "";
  }

  handIn() {
    const rows = LETTERS.map((letter) => {
      const fault = this.faultOf[letter], said = at(`fault-${letter}`).value, model = this.set.models[fault];
      return { letter, fault, said, model, right: said === fault };
    });
    const right = rows.filter((row) => row.right).length, score = RIGHT * right - this.seen.size;
    const rule = rows.filter((row) => row.model.named === row.fault).length, looks = LETTERS.length * Object.keys(LOOKS).length;
    this.over = true;
    this.best = Math.max(this.best ?? -Infinity, score);
    at("score").innerHTML = `<b>${right} of 6 rightly named, ${this.seen.size} looks: ${score} points</b> (best so far: ${this.best}).
The rule of lesson 17 takes all ${looks} looks and names ${rule}: ${RIGHT * rule - looks} points.`;
    at("truth").innerHTML = rows.map(({ letter, fault, said, model, right: hit }) =>
      `<tr><th scope="row">${letter}</th><td>${fault}</td><td>${hit ? "right" : `you said ${said}`}</td><td>${percent(model.true / 1000)}</td><td>${CLUES[fault]}</td></tr>`).join("");
    at("result").hidden = false;
    at("result-title").focus();
    this.show();
    this.count();
  }
}

const errors = (z) => `${Math.abs(z).toFixed(1)} standard errors ${z < 0 ? "below" : "above"} zero`;

function section(title) {
  const made = document.createElement("section");
  made.className = "card";
  made.innerHTML = `<h3>${title}</h3>`;
  at("seen").append(made);
  return made;
}

function drawn(place, title, binned, words) {
  const figure = document.createElement("figure"), picture = document.createElement("div");
  figure.append(picture);
  figure.insertAdjacentHTML("beforeend", `<figcaption>${words}</figcaption>`);
  place.append(figure);
  new Diagram(picture, { title, most: 2000 }).show(binned);
}
