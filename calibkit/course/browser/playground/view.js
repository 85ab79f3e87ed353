// Draws a session: all pictures, numbers and sentences of the page from its state.
// A state has: run (settings, data and scores), judged and plain (with the temperature and as
// trained), T, rows (one an epoch), kept (an earlier state, or null) and chosen (a bin, or null).
import { Diagram } from "../shared/diagram.js";
import { rowOf, signOf } from "./judged.js";
import { histogram, nllOverEpochs, overEpochs, plane } from "./pictures.js";
import { showImages } from "./thumbnails.js";
import { imagesOf, titleOf } from "./brushed.js";
import { gaps, numbers, verdict } from "./words.js";
import { differences } from "./settings.js";

const TITLES = {
  test: "The network on new digits",
  exact: "Exact posterior: the best possible",
  train: "The network on its training digits",
  kept: "Kept: on new digits",
};
export const BRUSHED = ["test", "exact", "train"]; // diagrams whose bins can be looked into
const MOST = 3000; // images in a diagram
const whole = (share) => Math.round(100 * share);
const at = (id) => document.getElementById(id);

export class View {
  // picked(of, bin): called when a bin of a diagram is clicked.
  constructor(picked) {
    const made = (of) => new Diagram(at(`diagram-${of}`), { title: TITLES[of], most: MOST,
      picked: BRUSHED.includes(of) ? (bin) => picked(of, bin) : null });
    this.diagrams = Object.fromEntries(Object.keys(TITLES).map((of) => [of, made(of)]));
  }

  draw(state, digits) {
    const { judged, plain, run, kept, chosen } = state, { test, exact } = judged;
    const rows = state.rows.length ? state.rows : [rowOf(0, plain.train, plain.test, run.train.share)];
    this.answer(test, state.rows.length > 0);
    for (const of of BRUSHED) {
      this.diagrams[of].show(judged[of].binned, chosen?.of === of ? chosen.bin : null);
      tellBin(at(`bin-${of}`), at(`in-bin-${of}`), judged[of].binned);
    }
    if (state.rows.length) { // from the first epoch on these show something, and they stay
      at("more-pictures").hidden = false;
      at("more-to-come").hidden = true;
    }
    const { epochs } = run.settings, past = kept?.rows ?? null;
    at("over-epochs").innerHTML = overEpochs(rows, past, epochs);
    at("nll").innerHTML = nllOverEpochs(rows, past, epochs, exact.nll);
    at("histogram").innerHTML = histogram(test);
    at("plane").innerHTML = plane(rows, past);
    at("images-title").textContent = titleOf(state);
    at("all-images").hidden = !chosen;
    showImages(at("images"), imagesOf(state, digits));
    this.compare(state);
  }

  // Of a hundred: what it says, and what is.
  answer(test, learned) {
    at("says").textContent = whole(test.confidence);
    at("is").textContent = whole(test.accuracy);
    at("says-bar").style.width = `${100 * test.confidence}%`;
    at("is-bar").style.width = `${100 * test.accuracy}%`;
    at("verdict").textContent = learned ? verdict(test) : "It has not learned anything yet. Press Train.";
    at("verdict").className = learned ? signOf(test.gap) : "";
  }

  compare({ kept, judged, T, run }) {
    at("comparison").hidden = at("gaps").hidden = !kept;
    if (!kept) return;
    at("gaps").textContent = gaps(kept.judged.test, judged.test);
    this.diagrams.kept.show(kept.judged.test.binned);
    const before = numbers(kept.judged, kept.T), now = numbers(judged, T);
    at("numbers").innerHTML = now.map(([words, value], row) =>
      `<tr><th scope="row">${words}</th><td>${before[row][1]}</td><td>${value}</td></tr>`).join("");
    const differs = (mine, others) => differences(mine, others).join("; ") || "the same settings";
    at("kept-settings").textContent = differs(kept.settings, run.settings);
    at("now-settings").textContent = differs(run.settings, kept.settings);
  }

  // The state of the buttons, and a sentence for the live region.
  buttons({ state, epoch, epochs, stale, live }) {
    const held = document.activeElement;
    at("train").textContent = state === "paused" && !stale ? "Continue" : "Train";
    at("train").disabled = state === "running" && !stale;
    at("pause").disabled = state !== "running";
    at("stop").disabled = !["running", "paused"].includes(state);
    at("keep").disabled = !epoch;
    at("epoch").textContent = `epoch ${epoch} of ${epochs}`;
    at("progress").value = epoch / epochs;
    at("stale").hidden = !stale;
    at("stale").textContent = state === "running"
      ? "You changed a setting. This training goes on without it; Train begins a new one."
      : "You changed a setting: press Train.";
    if (live) at("live").textContent = live;
    if (held?.disabled) at(state === "running" ? "pause" : "train").focus({ preventScroll: true });
  }
}

// The slider of a diagram says what the bin holds that it stands on; place: the words below it.
function tellBin(slider, place, { bins, counts, confidence, accuracy }) {
  const bin = Number(slider.value);
  const range = `${whole(bin / bins)} to ${whole((bin + 1) / bins)} % sure`;
  slider.setAttribute("aria-valuetext", counts[bin]
    ? `${range}: ${counts[bin]} images, mean confidence ${whole(confidence[bin])} %, ${whole(accuracy[bin])} % right`
    : `${range}: no image`);
  place.textContent = `bar ${whole(bin / bins)}–${whole((bin + 1) / bins)} %: ${counts[bin].toLocaleString("en")} images`;
}
