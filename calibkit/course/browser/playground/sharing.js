// The link to an experiment: copied, or shown and selected where a browser does not let a page copy.
import { toHash } from "./address.js";

const COPIED = "The link is copied.";
const SELECTED = "The browser did not copy it: the link is selected, press Ctrl+C or Command+C.";

// The address of this page with the settings, whatever the address bar shows meanwhile.
export const linkTo = (settings) => location.href.replace(/#.*$/, "") + toHash(settings);

// settings(): those of now.
export function buildSharing(settings) {
  const at = (id) => document.getElementById(id), field = at("link"), said = at("copied");
  const show = (link, hidden, words) => {
    field.value = link;
    field.hidden = hidden;
    said.textContent = words;
  };
  at("copy-link").addEventListener("click", async () => {
    const link = linkTo(settings());
    show(link, true, ""); // the same words once more are read out only if they were gone
    const copied = await copy(link);
    show(link, copied, copied ? COPIED : SELECTED);
    if (!copied) { field.focus(); field.select(); }
  });
  for (const moved of ["input", "click", "hashchange"]) { // what was said of other settings goes
    addEventListener(moved, () => linkTo(settings()) === field.value || show("", true, ""));
  }
}

// Whether the clipboard has it: a browser may give none to a page that was opened from a file.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
