// Where it begins: the same script is the page's and, in a thread of its own, the worker's.
import { AuditPage } from "./audit_page.js";
import { serveAudit } from "./audit_worker.js";
import { numbersOf } from "./all_numbers.js";

export const inOneGo = numbersOf; // for tests
export const page = typeof document === "undefined" ? serveAudit(self) : new AuditPage(document.currentScript.textContent);
