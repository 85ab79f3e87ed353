// What can be done about a file that was not audited.

// Title and hint. unsure: whether it is this page alone that does not read it. fields: those of the
// form that answer the question.
export function whatToDo(unsure, fields) {
  if (unsure) {
    return ["This page does not read this file",
      "The command may: it is written below, and so is what you can say of the columns."];
  }
  return fields.length
    ? ["This file needs a word from you", `Answer below, under ${fields.map(called).join(" or ")}, and press “Read it so”.`]
    : ["This file cannot be audited as it is", "Mend the file, and choose it again."];
}

// A field, as “Label column” (--label).
function called(field) {
  const label = field.closest("label"), option = label.querySelector("small");
  return `“${label.textContent.split(option.textContent)[0].trim()}” (${option.textContent})`;
}
