// The page: a reader answers alone and saves a file; a teacher's view takes the files of a class.
import { Asking } from "./asking.js";
import { Classroom } from "./classroom.js";
import { drawBinned, fillRows, percentOf, pointsOf, rowsOf, sentenceOf } from "./picturing.js";
import { ROUNDS, fileNameOf, textOf } from "./round_file.js";
import { binnedOf, intervalsOfAnswers, scoreOf, toppedOf } from "./scores.js";

const get = (id) => document.getElementById(id);
const dataOf = (id) => JSON.parse(get(id).textContent);
const VIEWS = ["welcome", "round", "result", "class"];

export class OwnPage {
  constructor() {
    this.questions = dataOf("questions");
    this.network = dataOf("network"); // { binned, score } of the network of lesson 00
    this.asking = new Asking(this.questions, (round) => this.finish(round));
    this.classroom = new Classroom(this.questions);
    get("begin").addEventListener("submit", (event) => this.begin(event));
    get("save").addEventListener("click", () => this.save());
    get("again").addEventListener("click", () => this.view("welcome"));
    get("clear").addEventListener("click", () => this.clear());
    get("reveal").addEventListener("toggle", () => this.reveal());
    this.listenToFiles();
    addEventListener("hashchange", () => this.addressed());
    this.addressed();
  }

  addressed() {
    this.view(location.hash === "#class" ? "class" : "welcome");
    if (location.hash === "#class") this.drawClass();
  }

  view(name) {
    for (const one of VIEWS) get(one).hidden = one !== name;
    get(name).querySelector("h2")?.focus();
  }

  // --- a reader ---

  begin(event) {
    event.preventDefault();
    const code = get("code").value.trim();
    if (!code) return;
    this.asking.begin(code, document.querySelector("input[name=when]:checked").value);
    this.view("round");
    get("question").focus();
  }

  finish(round) {
    const top = toppedOf(round, this.questions), intervals = intervalsOfAnswers(top);
    this.finished = round;
    this.view("result");
    get("reveal").open = false;
    drawBinned(get("own-diagram"), "You", binnedOf(top));
    drawBinned(get("network-diagram"), "A network of the course", this.network.binned);
    fillRows(get("own-numbers"), rowsOf([{ score: scoreOf(top), intervals }, this.network]));
    get("sentence").textContent = sentenceOf(intervals);
    get("result-title").focus();
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([textOf(this.finished)], { type: "application/json" }));
    link.download = fileNameOf(this.finished);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  reveal() {
    if (!get("reveal").open) return;
    fillRows(get("answers"), this.questions.map(({ id, text, options, right, why, source }) => {
      const { option, confidence } = this.finished.answers[id];
      const own = `${options[option]}, ${percentOf(confidence)} ${option === right ? "✓ right" : "✗ wrong"}`;
      return [text, own, `${options[right]}. ${why}`, decodeURI(source)];
    }));
  }

  // --- a teacher ---

  listenToFiles() {
    const place = get("drop");
    const shown = (on) => (event) => {
      event.preventDefault(); // else the browser opens the file
      place.classList.toggle("over", on);
    };
    addEventListener("dragover", shown(true));
    addEventListener("dragleave", shown(false));
    addEventListener("drop", (event) => {
      shown(false)(event);
      if (!get("class").hidden) this.take([...event.dataTransfer.files]);
    });
    get("files").addEventListener("change", (event) => {
      this.take([...event.target.files]);
      event.target.value = "";
    });
  }

  async take(files) {
    const said = [];
    for (const file of files) {
      try {
        said.push(this.classroom.add(await file.text()));
      } catch (error) {
        said.push(`${file.name}: not taken, for ${error.message}`);
      }
    }
    get("said").textContent = said.filter(Boolean).join("\n");
    this.drawClass();
  }

  clear() {
    this.classroom.clear();
    get("said").textContent = "";
    this.drawClass();
  }

  drawClass() {
    const { classroom } = this, both = ROUNDS.map((round) => classroom.summary(round));
    get("taken").textContent = `Files: ${classroom.count("before")} from before the course, `
      + `${classroom.count("after")} from after it, ${classroom.pairs().length} students with both.`;
    get("class-pictures").hidden = !both.some(Boolean);
    ROUNDS.forEach((round, place) => {
      get(`class-${round}`).hidden = !both[place];
      if (both[place]) drawBinned(get(`class-${round}`), `The class, ${round} the course`, both[place].binned);
    });
    drawBinned(get("class-network"), "A network of the course", this.network.binned);
    fillRows(get("class-numbers"), rowsOf([...both, this.network]));
    const verdicts = classroom.verdicts();
    get("verdicts").textContent = verdicts.length ? verdicts.map(({ line }) => line).join("\n")
      : "The change is judged as soon as two students have handed in both files, with the same code word.";
    fillRows(get("by-question"), classroom.byQuestion()
      .map(({ text, options, right, sure, gap }) =>
        [`${text} (${options.join(" / ")})`, percentOf(right), percentOf(sure), pointsOf(gap)]));
  }
}
