// Main findings of the lessons, as settings that differ from those at the start.
import { defaults } from "./settings.js";
import { toHash } from "./address.js";

export const PRESETS = [
  { words: "as at the start", change: {} },
  { words: "03: stopped after 5 epochs, it doubts too much", change: { epochs: 5 } },
  { words: "03: a linear network", change: { depth: 0 } },
  { words: "05: 150 images", change: { images: 150 }, chip: "10 times fewer images" },
  { words: "06: 40 % shuffled labels", change: { wrong: 0.4 }, chip: "40 % shuffled labels" },
  { words: "06: shuffled labels, class by class", change: { wrong: 0.4, kind: "class" } },
  { words: "07: rare digits, 100 : 1", change: { rho: 100 } },
  { words: "08: one temperature repairs it", change: { temperature: "fitted" }, chip: "a cure: temperature" },
  { words: "09: label smoothing doubts too much", change: { loss: "smoothing", alpha: 0.3 } },
  { words: "11: focal loss, gamma 3", change: { loss: "focal", gamma: 3 } },
  { words: "11: five networks vote", change: { ensemble: 5 } },
  { words: "12: mixup doubts too much", change: { mixup: 1 } },
  { words: "13: new images with twice the noise", change: { testNoise: 0.8 } },
];

// The list of all, and buttons for those that have a chip. chosen(settings): called with the list's,
// or with those that stand and a button's change; pressed again, a button takes its change back.
// Returns show(settings), which names in the list what the settings are, and presses the buttons.
export function buildPresets(chosen) {
  const list = document.getElementById("presets"), chips = document.getElementById("chips");
  const all = PRESETS.map(({ change }) => ({ ...defaults(), ...change })), buttons = new Map();
  let here = defaults();
  PRESETS.forEach(({ words, chip, change }, place) => {
    list.add(new Option(words, place));
    if (!chip) return;
    const button = document.createElement("button");
    button.textContent = chip;
    button.addEventListener("click", () => {
      const back = Object.keys(change).map((name) => [name, defaults()[name]]);
      const pressed = button.getAttribute("aria-pressed") === "true";
      chosen({ ...here, ...(pressed ? Object.fromEntries(back) : change) });
    });
    buttons.set(button, change);
    chips.append(button);
  });
  list.addEventListener("change", () => chosen(all[list.value]));
  return (settings) => {
    const now = all.findIndex((one) => toHash(one) === toHash(settings));
    list.value = now;
    here = settings;
    buttons.forEach((change, button) => {
      const set = Object.entries(change).every(([name, value]) => settings[name] === value);
      button.setAttribute("aria-pressed", set);
    });
  };
}
