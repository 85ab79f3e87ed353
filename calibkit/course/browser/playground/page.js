// The page: settings and buttons lead to the session and the conductor, their answers to the view.
import { Conductor } from "./conductor.js";
import { Session } from "./session.js";
import { BRUSHED, View } from "./view.js";
import { readDigits } from "./digits.js";
import { fromHash, toHash } from "./address.js";
import { buildPresets } from "./presets.js";
import { changesMore, defaults, differences, retrains } from "./settings.js";
import { buildControls } from "./controls.js";
import { preview } from "./brushed.js";

const QUIET = 150; // ms without a move before new data are drawn
const at = (id) => document.getElementById(id);
const guesses = () => [...at("go").querySelectorAll("input")];

export class Page {
  // source: the text of this script, of which the worker is made.
  constructor(source) {
    const text = JSON.parse(at("digits").textContent), lessons = JSON.parse(at("lessons").textContent);
    this.digits = readDigits(text);
    this.session = new Session(fromHash(location.hash));
    this.conductor = new Conductor(source, text, (answer) => this.hear(answer));
    this.view = new View((of, bin) => this.pick(of, bin));
    this.refresh = buildControls(lessons, (name, value) =>
      this.change({ ...this.session.settings, [name]: value }));
    this.refreshPresets = buildPresets((settings) => this.change({ ...settings }));
    this.listen();
    preview(this.session.settings, this.digits);
    this.begin();
    this.show();
  }

  listen() {
    for (const id of ["train", "pause", "step", "stop", "keep", "forget"]) {
      at(id).addEventListener("click", () => this[id]());
    }
    at("all-images").addEventListener("click", () => this.pick(null));
    for (const of of BRUSHED) {
      at(`bin-${of}`).addEventListener("input", (event) => this.pick(of, Number(event.target.value)));
    }
    addEventListener("hashchange", () => this.change(fromHash(location.hash)));
    if (matchMedia("(max-width: 48rem)").matches) at("settings").open = false;
    at("more").open = changesMore(this.session.settings); // what a link sets is seen
  }

  // --- what the visitor does ---

  change(settings) {
    const { session, conductor } = this, before = session.settings;
    session.settings = settings;
    clearTimeout(this.address); // a browser refuses addresses that change at each move of a slider
    this.address = setTimeout(() => history.replaceState(null, "", toHash(settings) || location.pathname), QUIET);
    if (!session.rows.length && retrains(settings, session.run.settings) && conductor.state !== "running") {
      preview(this.session.settings, this.digits); // nothing is trained yet: new data are drawn when the slider rests
      clearTimeout(this.quiet);
      this.quiet = setTimeout(() => this.begin(), QUIET);
    } else {
      session.ask();
      if (settings.testNoise !== before.testNoise) conductor.renew(session.run.settings);
      this.draw();
      if (settings.noise !== before.noise) preview(this.session.settings, this.digits);
    }
    this.show();
  }

  begin() {
    clearTimeout(this.quiet);
    this.session.renew();
    this.conductor.begin(this.session.run.settings);
  }

  train() {
    const { session, conductor } = this;
    if (session.stale || conductor.state !== "paused") {
      if (conductor.state !== "ready" || session.stale) this.begin();
      session.guess = guesses().find((input) => input.checked)?.value ?? null;
    }
    conductor.play();
    this.show(`Training for ${session.run.settings.epochs} epochs.`);
  }

  pause() {
    this.conductor.pause();
    this.show(`Paused. ${this.session.words}`);
  }

  step() {
    if (!["ready", "running", "paused"].includes(this.conductor.state)) this.begin();
    this.conductor.step();
    this.show();
  }

  stop() {
    this.conductor.stop();
    this.show(`Stopped. ${this.session.words}`);
  }

  keep() {
    this.session.keep();
    this.draw();
    const what = differences(this.session.kept.settings, defaults()).join(", ");
    this.show(`Kept: ${what || "the settings at the start"}. Change a setting and train again.`);
  }

  forget() {
    this.session.kept = null;
    at("keep").focus({ preventScroll: true });
    this.draw();
  }

  pick(of, bin = null) {
    this.session.chosen = of && { of, bin };
    if (of) at(`bin-${of}`).value = bin;
    this.draw();
  }

  hear(answer) {
    const { session, conductor } = this;
    session.take(answer);
    let words = null;
    if (conductor.state === "paused") words = session.words;
    if (conductor.state === "done" && answer.task === "epoch") {
      at("score").textContent = session.settle();
      guesses().forEach((input) => { input.checked = false; });
      words = `${at("score").textContent} ${session.words}`;
    }
    this.show(words);
    cancelAnimationFrame(this.frame); // at most one picture a frame, of the newest answer
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.session.run.scores) return; // a new run has no answer yet
    performance.mark("begun");
    this.view.draw(this.session, this.digits);
    performance.measure("picture", "begun");
  }

  // Controls, presets and buttons as the session stands; live: a sentence to be read out.
  show(live = null) {
    const { settings, rows, run, stale } = this.session;
    this.refresh(settings);
    this.refreshPresets(settings);
    const known = this.conductor.state === "done" && !stale; // how it would end
    guesses().forEach((input) => { input.disabled = known; });
    this.view.buttons({ state: this.conductor.state, epoch: rows.length, epochs: run.settings.epochs,
      stale: stale && rows.length > 0, live });
  }
}
