// Where it begins: the same script is the page's and, in a thread of its own, the worker's.
import { audit, testOf } from "./auditing.js";
import { AuditPage } from "./audit_page.js";
import { buildThemeSwitch } from "../shared/theme.js";
import { exported } from "./export.js";
import { intake } from "./intake.js";
import { serveAudit } from "./audit_worker.js";
import { showSample } from "./example.js";

export const page = typeof document === "undefined" ? serveAudit(self) : begun();

function begun() {
  const at = (id) => document.getElementById(id);
  buildThemeSwitch(at("theme"));
  showSample(at("sample-words"), at("sample-picture"));
  return new AuditPage(document.currentScript.textContent);
}

// All numbers at once, for tests.
export function inOneGo(bytes, file, options, trust, version) {
  const found = audit(intake(bytes, file, options), file, trust);
  return exported(found, testOf(found), version);
}
