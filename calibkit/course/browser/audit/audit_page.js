// The page: a file and the options lead to the worker, its answers to the view.
import { commandLine, namedIn, whatToDo } from "./refusals.js";
import { EXAMPLE, exampleText } from "./example.js";
import { fillLists, showAudit, showTest, spoken } from "./audit_view.js";

const at = (id) => document.getElementById(id);
const held = (id) => JSON.parse(at(id).textContent);

export class AuditPage {
  // source: the text of this script, of which the worker is made.
  constructor(source) {
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    Object.assign(this, { number: 0, worker: null, file: null, numbers: null });
    Object.assign(this, { trust: held("trust"), version: held("version") });
    at("file").addEventListener("change", ({ target }) => target.files.length && this.take(target.files[0]));
    at("example").addEventListener("click", () => this.example());
    at("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    at("form").addEventListener("input", ({ target }) =>
      (target.name === "label" ? this.showLists(this.options) : this.showCommand()));
    at("download").addEventListener("click", () => this.download());
    at("print").addEventListener("click", () => print());
    this.listenToDrops();
  }

  listenToDrops() {
    const over = (is) => at("drop").classList.toggle("over", is);
    addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    addEventListener("dragleave", (event) => event.relatedTarget ?? over(false));
    addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      if (event.dataTransfer.files.length) this.take(event.dataTransfer.files[0]);
    });
  }

  // --- what the visitor does ---

  async take(file) {
    this.begin({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  }

  example() {
    this.begin({ name: EXAMPLE, bytes: new TextEncoder().encode(exampleText()) }, { groups: "camera" });
  }

  begin(file, options = {}) {
    this.file = file;
    at("form").reset();
    this.showLists({}, { columns: [], values: {}, taken: {} });
    this.ask(options);
  }

  // The file as the options say; an answer to an earlier question is no longer wanted.
  ask(options = this.options) {
    this.number += 1;
    this.worker?.terminate();
    this.worker = new Worker(this.url);
    this.worker.onmessage = ({ data }) => data.number === this.number && this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.refuse(`This page failed on the file (${event.message}).`, true);
    };
    this.asked = options;
    at("download").disabled = true;
    this.tell(`Reading ${this.file.name} …`);
    const { bytes, name } = this.file, { trust, version, number } = this;
    this.worker.postMessage({ number, bytes, file: name, options, trust, version });
  }

  get options() {
    const form = at("form"), data = new FormData(form);
    return { ...Object.fromEntries(data), scores: data.getAll("scores").join(","), drop: form.elements.drop.checked };
  }

  download() {
    const text = `${JSON.stringify(this.numbers, null, 2)}\n`, link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `${this.numbers.name}.audit.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // --- what comes back ---

  hear({ columns, values, refused, unsure, lists, taken, found, label, tested }) {
    if (columns) this.showLists(this.asked, { columns, values });
    if (refused) this.refuse(refused, unsure, lists, taken);
    if (found) {
      this.showLists(this.asked, { taken: { label } });
      at("question").hidden = true;
      at("options").hidden = false;
      at("options").open = false;
      showAudit(found, commandLine(this.file.name, this.asked));
      this.tell(spoken(found.numbers));
      document.body.classList.add("shown"); // the choice of a file takes less room from now on
      at("title").focus({ preventScroll: true });
      at("result").scrollIntoView();
    }
    if (tested) {
      showTest(tested);
      this.numbers = tested;
      at("download").disabled = false;
    }
  }

  refuse(words, unsure, lists = [], taken = {}) {
    const named = lists.length ? lists : namedIn(words);
    if (lists.length) this.showLists({ ...taken, ...said(this.asked) });
    const fields = [...at("form").elements].filter(({ name }) => named.includes(name));
    const [title, hint] = whatToDo(unsure, fields);
    at("question-title").textContent = title;
    at("refusal").textContent = unsure ? words : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
    at("hint").textContent = hint;
    at("question").hidden = false;
    at("result").hidden = true;
    at("options").hidden = false;
    at("options").open = true;
    for (const control of at("form").elements) {
      control.closest("label")?.classList.toggle("named", named.includes(control.name));
    }
    this.tell("");
    at("question-title").focus({ preventScroll: true });
    at("question").scrollIntoView();
  }

  showLists(chosen, known = {}) {
    Object.assign(this, known);
    fillLists(at("form").elements, this, chosen);
    this.showCommand();
  }

  showCommand() {
    at("command").textContent = commandLine(this.file.name, this.options);
  }

  tell(words) {
    at("live").textContent = words;
  }
}

// The options that say something.
const said = (options) => Object.fromEntries(Object.entries(options).filter(([, text]) => text));
