// The game: six letters, looks at their files, a fault for each letter, the score.
import { Random } from "../shared/random.js";
import { buildThemeSwitch } from "../shared/theme.js";
import { File } from "./file.js";
import { LOOKS, percent } from "./looks.js";

const LETTERS = ["A", "B", "C", "D", "E", "F"];
const RIGHT = 10; // points for a fault that is rightly named; a look costs one
const CLUES = {
  "too sure": "a gap far above zero, on both scanners",
  "noisy labels": "a gap far below zero; much mixup would look alike",
  "two scanners": "hardly a gap on the whole, but one above zero on one scanner and one below on the other",
  "rare class": "one digit is off: seldom predicted, and then more often right than stated",
  leak: "half of the rows stand in the calibration file, too, and flatter every other number",
  none: "nothing, or one flag by luck",
};
const at = (id) => document.getElementById(id);

export class Game {
  constructor(sets) {
    this.sets = sets;
    this.best = -Infinity;
    buildThemeSwitch(at("theme"));
    at("new").addEventListener("click", () => {
      this.deal(this.number + 1);
      history.replaceState(null, "", `#files=${this.number}`);
    });
    at("hand-in").addEventListener("click", () => this.handIn());
    at("letters").addEventListener("change", (event) => this.choose(event.target.value));
    at("looks").addEventListener("click", (event) => event.target.dataset.look && this.look(event.target.dataset.look));
    at("faults").addEventListener("change", () => this.count());
    this.deal(Math.max(1, Math.trunc(new URLSearchParams(location.hash.slice(1)).get("files")) || 1));
  }

  // Files number 1, 2, ...: a set of models, and another order of the letters each time.
  deal(number) {
    this.number = number;
    this.set = this.sets[(number - 1) % this.sets.length];
    const faults = Object.keys(CLUES), order = new Random(number, "letters").permutation(LETTERS.length);
    this.faultOf = Object.fromEntries(LETTERS.map((letter, i) => [letter, faults[order[i]]]));
    const file = (letter) => new File(this.set.labels, this.set.models[this.faultOf[letter]]);
    this.files = Object.fromEntries(LETTERS.map((letter) => [letter, file(letter)]));
    this.seen = new Set();
    this.over = false;
    at("number").textContent = `Files number ${number}`;
    at("letters").innerHTML = LETTERS.map((letter) =>
      `<label><input type="radio" name="letter" value="${letter}"> file ${letter}</label>`).join("");
    const options = ["", ...faults].map((fault) => `<option value="${fault}">${fault || "?"}</option>`).join("");
    at("faults").innerHTML = LETTERS.map((letter) =>
      `<label>${letter} <select id="fault-${letter}">${options}</select></label>`).join("");
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
    at("looks").innerHTML = Object.entries(LOOKS).map(([name, [words]]) =>
      `<button type="button" data-look="${name}" ${this.sees(name) ? "disabled" : ""}>${words}</button>`).join(" ");
    at("seen").innerHTML = "";
    for (const [name, [words, draw]] of Object.entries(LOOKS)) {
      if (this.sees(name)) draw(this.files[this.letter], section(`File ${this.letter}: ${words.toLowerCase()}`));
    }
  }

  sees(name) {
    return this.over || this.seen.has(`${this.letter} ${name}`);
  }

  count() {
    const open = LETTERS.filter((letter) => !at(`fault-${letter}`).value).length;
    at("paid").textContent = `${this.seen.size} looks`;
    at("hand-in").disabled = this.over || open > 0;
    at("open").textContent = open && !this.over ? `${open} of 6 letters have no fault yet` : "";
  }

  handIn() {
    const rows = LETTERS.map((letter) => {
      const fault = this.faultOf[letter];
      return { letter, fault, said: at(`fault-${letter}`).value, model: this.set.models[fault] };
    });
    const right = rows.filter((row) => row.said === row.fault).length, score = RIGHT * right - this.seen.size;
    const rule = rows.filter((row) => row.model.named === row.fault).length;
    const looks = LETTERS.length * Object.keys(LOOKS).length;
    this.over = true;
    this.best = Math.max(this.best, score);
    at("score").innerHTML = `<b>${right} of 6 rightly named, ${this.seen.size} looks: ${score} points</b> (best so far:
${this.best}). The rule of lesson 17 takes all ${looks} looks and names ${rule}: ${RIGHT * rule - looks} points.`;
    at("truth").innerHTML = rows.map(({ letter, fault, said, model }) => {
      const cells = [fault, said === fault ? "right" : `you said ${said}`, percent(model.true / 1000), CLUES[fault]];
      return `<tr><th scope="row">${letter}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
    }).join("");
    at("result").hidden = false;
    at("result-title").focus();
    this.show();
    this.count();
  }
}

function section(title) {
  const made = document.createElement("section");
  made.className = "card";
  made.innerHTML = `<h3>${title}</h3>`;
  at("seen").append(made);
  return made;
}
