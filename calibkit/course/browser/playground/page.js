// The page: settings and buttons in, pictures and sentences out.
import { Diagram } from "../shared/diagram.js";
import { Random } from "../shared/random.js";
import { Conductor } from "./conductor.js";
import { PIXELS, readDigits } from "./digits.js";
import { drawDigits, withNoise } from "./noise.js";
import { posterior } from "./posterior.js";
import { fromHash, toHash } from "./address.js";
import { PRESETS } from "./presets.js";
import { defaults, differences, retrains } from "./settings.js";
import { buildControls } from "./controls.js";
import { judge, judgeLogits, rowOf, signOf, temperatureOf } from "./judged.js";
import { histogram, nllOverEpochs, overEpochs, plane } from "./pictures.js";
import { said, showImages } from "./thumbnails.js";
import { numbers, scored, told, verdict } from "./words.js";

const IMAGES = 12;
const QUIET = 150; // ms without a move before new data are drawn
const MOST = 3000; // images in a diagram
const at = (id) => document.getElementById(id);

export class Page {
  constructor(source) {
    this.text = JSON.parse(at("digits").textContent);
    this.digits = readDigits(this.text);
    this.settings = fromHash(location.hash);
    this.score = { right: 0, guesses: 0 };
    this.chosen = null; // { of: "train", "test" or "exact", bin }
    this.conductor = new Conductor(source, this.text, (answer) => this.hear(answer));
    const picked = (of) => (bin) => this.pick(of, bin);
    this.diagrams = Object.fromEntries(
      [["test", "The network on new digits"], ["exact", "The exact posterior: the best possible"],
        ["train", "The network on its training digits"], ["kept", "Kept: on new digits"]].map(([of, title]) =>
        [of, new Diagram(at(`diagram-${of}`), { title, most: MOST, picked: of === "kept" ? null : picked(of) })]));
    const groups = ["first", "data", "network", "training", "after"];
    this.refresh = buildControls(Object.fromEntries(groups.map((name) => [name, at(`group-${name}`)])),
      JSON.parse(at("lessons").textContent), (name, value) => this.change({ ...this.settings, [name]: value }));
    this.listen();
    this.refresh(this.settings);
    this.preview();
    this.begin();
  }

  listen() {
    const buttons = { train: () => this.train(), pause: () => this.pause(), step: () => this.step(),
      stop: () => this.stop(), keep: () => this.keep(), forget: () => this.forget(),
      "all-images": () => this.pick(null) };
    for (const [id, act] of Object.entries(buttons)) at(id).addEventListener("click", act);
    for (const of of ["test", "exact", "train"]) {
      at(`bin-${of}`).addEventListener("input", (event) => this.pick(of, Number(event.target.value)));
    }
    const presets = at("presets");
    PRESETS.forEach(({ words, change, chip }, place) => {
      presets.add(new Option(words, place));
      if (!chip) return;
      const button = document.createElement("button");
      button.textContent = chip;
      button.addEventListener("click", () => this.change({ ...defaults(), ...change }));
      at("chips").append(button);
    });
    presets.addEventListener("change", () => this.change({ ...defaults(), ...PRESETS[presets.value].change }));
    addEventListener("hashchange", () => {
      if (toHash(this.settings) !== location.hash) this.change(fromHash(location.hash));
    });
  }

  // --- what is asked for ---

  change(settings) {
    const before = this.settings;
    this.settings = settings;
    history.replaceState(null, "", toHash(settings) || location.pathname);
    this.refresh(settings);
    at("presets").value = PRESETS.findIndex(({ change }) => toHash({ ...defaults(), ...change }) === toHash(settings));
    const { state } = this.conductor;
    if (["ready", "stopped", "empty"].includes(state) && !this.rows?.length && retrains(settings, before)) {
      this.preview();
      clearTimeout(this.quiet);
      this.quiet = setTimeout(() => this.begin(), QUIET);
    } else {
      if (settings.testNoise !== before.testNoise) this.conductor.renew(this.asked());
      if (settings.noise !== before.noise) this.preview();
      else this.draw();
    }
    this.say();
  }

  // The settings of the run, with those of now that need no training.
  asked() {
    const { temperature, T, testNoise } = this.settings;
    return { ...this.run.settings, temperature, T, testNoise };
  }

  begin() {
    clearTimeout(this.quiet);
    this.run = { settings: { ...this.settings } };
    this.rows = [];
    this.chosen = null;
    this.conductor.begin(this.run.settings);
  }

  train() {
    const { state } = this.conductor;
    if (state !== "paused") {
      if (state !== "ready" || this.rows.length || retrains(this.settings, this.run.settings)) this.begin();
      this.guess = document.querySelector("input[name=guess]:checked")?.value ?? null;
    }
    this.conductor.play();
    this.say(`Training for ${this.run.settings.epochs} epochs.`);
  }

  pause() {
    this.conductor.pause();
    this.say(this.judged ? told(this.conductor.epoch, this.judged.test, this.judged.exact) : "Paused.");
  }

  step() {
    if (!["ready", "running", "paused"].includes(this.conductor.state)) this.begin();
    this.conductor.step();
    this.say();
  }

  stop() {
    clearTimeout(this.quiet);
    this.conductor.stop();
    this.say("Stopped.");
  }

  keep() {
    const { settings } = this.run;
    this.kept = { settings: { ...this.asked() }, judged: this.judged, rows: [...this.rows], T: this.T };
    this.diagrams.kept.show(this.judged.test.binned);
    this.draw();
    this.say(`Kept: ${differences(settings, defaults()).join(", ") || "the settings at the start"}.`);
    at("forget").focus({ preventScroll: true });
  }

  forget() {
    this.kept = null;
    this.draw();
    at("keep").focus({ preventScroll: true });
  }

  pick(of, bin = null) {
    this.chosen = of && { of, bin };
    this.draw();
    if (of) at("images-title").scrollIntoView({ block: "nearest" });
  }

  // --- what is answered ---

  hear({ task, epoch, ...answer }) {
    Object.assign(this.run, answer);
    if (answer.test) this.run.exact = judge(answer.test.posterior, answer.test.labels);
    this.measure();
    if (task === "epoch") {
      const { train, test } = this.plain;
      this.rows.push(rowOf(epoch, train, test, this.run.train.share));
    } else if (task === "begin") {
      this.rows = [];
    }
    if (task === "epoch" && this.conductor.state === "done") this.finish();
    else if (task === "epoch" && this.conductor.state === "paused") this.pause();
    else this.say();
    this.later();
  }

  // Judged as trained, and with the temperature that is asked for.
  measure() {
    const { scores, train, test, heldLabels } = this.run;
    this.T = temperatureOf(this.settings, scores, heldLabels);
    const all = (T) => ({ train: judgeLogits(scores.train, train.labels, T), exact: this.run.exact,
      test: judgeLogits(scores.test, test.labels, T) });
    this.judged = all(this.T);
    this.plain = this.T === 1 ? this.judged : all(1);
  }

  finish() {
    const { test, exact } = this.judged;
    const words = told(this.conductor.epoch, test, exact);
    if (!this.guess) return this.say(words);
    this.score.guesses += 1;
    this.score.right += this.guess === signOf(test.gap) ? 1 : 0;
    const result = scored(this.guess, test.gap, this.score);
    at("score").textContent = result;
    this.guess = null;
    for (const input of document.querySelectorAll("input[name=guess]")) input.checked = false;
    return this.say(`${result} ${words}`);
  }

  // --- what is shown ---

  // At most once a frame, and only the newest.
  later() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.judged) return;
    performance.mark("draw");
    if (this.settings.temperature !== "none" || this.T !== 1) this.measure();
    const { test, train, exact } = this.judged, { kept } = this, { of, bin } = this.chosen ?? {};
    const rows = this.rows.length ? this.rows : [rowOf(0, this.plain.train, this.plain.test, this.run.train.share)];
    this.answer(test);
    for (const [name, shown] of Object.entries({ test, train, exact })) {
      this.diagrams[name].show(shown.binned, of === name ? bin : null);
      tellBin(at(`bin-${name}`), shown.binned);
    }
    const { epochs } = this.run.settings, past = kept?.rows.length ? kept.rows : null;
    at("over-epochs").innerHTML = overEpochs(rows, past, epochs);
    at("nll").innerHTML = nllOverEpochs(rows, past, epochs, exact.nll);
    at("histogram").innerHTML = histogram(test);
    at("plane").innerHTML = plane(rows, past);
    this.images();
    this.compare();
    performance.measure("picture", "draw");
  }

  answer(test) {
    const { confidence, accuracy } = test, whole = (share) => Math.round(100 * share);
    at("says").textContent = whole(confidence);
    at("is").textContent = whole(accuracy);
    at("says-bar").style.width = `${100 * confidence}%`;
    at("is-bar").style.width = `${100 * accuracy}%`;
    at("verdict").textContent = this.rows.length ? verdict(test) : "It has not learned anything yet. Press Train.";
    at("verdict").className = this.rows.length ? signOf(test.gap) : "";
  }

  images() {
    const { of, bin } = this.chosen ?? { of: "test", bin: null };
    const source = of === "train" ? this.run.train : this.run.test, shown = this.judged[of];
    const noise = of === "train" ? this.run.settings.noise : this.run.test.noise;
    const members = [];
    for (let i = 0; i < shown.labels.length && members.length < IMAGES; i += 1) {
      if (bin === null || shown.binned.bin[i] === bin) members.push(i);
    }
    const network = this.judged[of === "exact" ? "test" : of].probs;
    showImages(at("images"), members.map((i) => {
      const image = source.images.subarray(i * PIXELS, (i + 1) * PIXELS);
      const truth = source.clean ? source.clean[i] : source.labels[i], label = source.labels[i];
      const exact = of === "train" ? said(posterior(this.digits, image, noise), 0) : said(shown === this.judged.exact
        ? shown.probs : this.judged.exact.probs, i);
      const note = label === truth ? "" : `, labelled ${label}`;
      return { image, label: truth, note, network: said(network, i), exact };
    }));
    const { bins } = shown.binned, whole = (share) => Math.round(100 * share);
    const who = of === "exact" ? "the posterior" : "it";
    at("images-title").textContent = bin === null ? "Twelve of the new digits"
      : `${who} is ${whole(bin / bins)} to ${whole((bin + 1) / bins)} % sure of these`;
    at("all-images").hidden = bin === null;
  }

  // The twelve images under the noise that is chosen, at once, before anything has learned them.
  preview() {
    const { settings, digits } = this, noise = settings.testNoise || settings.noise;
    const drawn = drawDigits(digits, IMAGES, new Random(settings.seed, "new images"));
    const images = withNoise(digits, drawn, noise), exact = posterior(digits, images, noise);
    showImages(at("images"), Array.from(drawn.labels, (label, i) => (
      { image: images.subarray(i * PIXELS, (i + 1) * PIXELS), label, note: "", network: null, exact: said(exact, i) })));
  }

  compare() {
    const { kept } = this;
    at("comparison").hidden = !kept;
    if (!kept) return;
    const before = numbers(kept.judged, kept.T), now = numbers(this.judged, this.T);
    at("numbers").innerHTML = now.map(([words, value], row) =>
      `<tr><th scope="row">${words}</th><td>${before[row][1]}</td><td>${value}</td></tr>`).join("");
    const differs = (mine, theirs) => differences(mine, theirs).join("; ") || "the same settings";
    at("kept-settings").textContent = differs(kept.settings, this.asked());
    at("now-settings").textContent = differs(this.asked(), kept.settings);
  }

  // The state of the buttons, and a sentence for the live region.
  say(words = null) {
    const { state, epoch } = this.conductor, { epochs } = this.run.settings;
    at("train").textContent = state === "paused" ? "Continue" : "Train";
    at("train").disabled = state === "running";
    at("pause").disabled = state !== "running";
    at("stop").disabled = !["running", "paused"].includes(state);
    at("keep").disabled = !this.rows?.length;
    at("epoch").textContent = `epoch ${this.rows?.length ? epoch : 0} of ${epochs}`;
    at("progress").value = this.rows?.length ? epoch / epochs : 0;
    const stale = this.rows?.length && retrains(this.settings, this.run.settings);
    at("stale").hidden = !stale;
    if (words) at("live").textContent = words;
  }
}

// The slider of a diagram says what the bin holds that it stands on.
function tellBin(slider, { bins, counts, confidence, accuracy }) {
  const bin = Number(slider.value), whole = (share) => Math.round(100 * share);
  const range = `${whole(bin / bins)} to ${whole((bin + 1) / bins)} % sure`;
  slider.setAttribute("aria-valuetext", counts[bin]
    ? `${range}: ${counts[bin]} images, mean confidence ${whole(confidence[bin])} %, ${whole(accuracy[bin])} % right`
    : `${range}: no image`);
}
