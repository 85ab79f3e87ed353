// One round: question after question, an option and a confidence each.
//
// Nobody learns here which answers are right, for the same questions come again after the course;
// then in the other order, with the options exchanged.
const byId = (id) => document.getElementById(id);

export class Asking {
  // done(round): called with the answers when all questions have one.
  constructor(questions, done) {
    Object.assign(this, { questions, done });
    byId("next").addEventListener("click", () => this.next());
    byId("back").addEventListener("click", () => this.go(-1));
    byId("confidence").addEventListener("input", () => this.told());
    for (const option of this.options()) option.addEventListener("change", () => this.chosen());
  }

  options() {
    return [...document.querySelectorAll("#options input")];
  }

  begin(code, round) {
    const later = round === "after";
    this.order = this.questions.map((_, place) => (later ? this.questions.length - 1 - place : place));
    this.round = { code, round, answers: {} };
    this.exchanged = later;
    this.place = 0;
    this.show();
  }

  now() {
    return this.questions[this.order[this.place]];
  }

  show() {
    const { id, text, options } = this.now(), given = this.round.answers[id];
    byId("question").textContent = text;
    byId("place").textContent = `Question ${this.place + 1} of ${this.questions.length}`;
    byId("asked").value = this.place;
    byId("asked").max = this.questions.length;
    this.options().forEach((input, shown) => {
      const option = this.exchanged ? 1 - shown : shown;
      input.value = option;
      input.checked = given?.option === option;
      input.nextElementSibling.textContent = options[option];
    });
    byId("confidence").value = given ? Math.round(100 * given.confidence) : 50;
    byId("back").disabled = this.place === 0;
    byId("next").textContent = this.place === this.questions.length - 1 ? "Finish" : "Next";
    this.told();
    this.chosen();
  }

  told() {
    const percent = Number(byId("confidence").value);
    const words = percent === 50 ? "50 %: a guess" : percent === 100 ? "100 %: certain" : `${percent} %`;
    byId("sure").textContent = words;
    byId("confidence").setAttribute("aria-valuetext", words);
  }

  chosen() {
    byId("next").disabled = !this.options().some(({ checked }) => checked);
  }

  next() {
    const option = Number(this.options().find(({ checked }) => checked).value);
    this.round.answers[this.now().id] = { option, confidence: Number(byId("confidence").value) / 100 };
    if (this.place === this.questions.length - 1) this.done(this.round);
    else this.go(1);
  }

  go(step) {
    this.place += step;
    this.show();
    byId("question").focus();
  }
}
