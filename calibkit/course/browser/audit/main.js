// Where it begins: the same script is the page's and, in a thread of its own, the worker's.
import { AuditPage } from "./audit_page.js";
import { serveAudit } from "./audit_worker.js";
import { buildThemeSwitch } from "../shared/theme.js";
import { numbersOf } from "./all_numbers.js";
import { showSample } from "./sample.js";

export const inOneGo = numbersOf; // for tests
export const page = typeof document === "undefined" ? serveAudit(self) : begun();

function begun() {
  const at = (id) => document.getElementById(id);
  buildThemeSwitch(at("theme"));
  showSample(at("sample-words"), at("sample-picture"));
  return new AuditPage(document.currentScript.textContent);
}
