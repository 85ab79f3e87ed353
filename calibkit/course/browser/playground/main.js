// Where it begins: the same script is the page's and, in a thread of its own, the worker's.
import { Page } from "./page.js";
import { buildSharing } from "./sharing.js";
import { buildThemeSwitch } from "../shared/theme.js";
import { serve } from "./worker.js";

export const page = typeof document === "undefined" ? serve(self) : begun();

function begun() {
  buildThemeSwitch(document.getElementById("theme"));
  const made = new Page(document.currentScript.textContent);
  buildSharing(() => made.session.settings);
  return made;
}
