// Everything at once, without a page: what tests compare with the command.
import { audit, testOf } from "./auditing.js";
import { exported } from "./export.js";
import { intake } from "./intake.js";

export function numbersOf(bytes, file, options, trust, version) {
  const found = audit(intake(bytes, file, options), file, trust);
  return exported(found, testOf(found), version);
}
