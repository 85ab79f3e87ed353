// Where it begins: the same script is the page's and, in a thread of its own, the worker's.
import { Page } from "./page.js";
import { buildSharing } from "./sharing.js";
import { serve } from "./worker.js";

export const page = typeof document === "undefined"
  ? serve(self) : new Page(document.currentScript.textContent);
if (page) buildSharing(() => page.session.settings);
