// A session: what is asked for, what was answered, and how both are judged.
import { judge, judgeLogits, rowOf, signOf, temperatureOf } from "./judged.js";
import { retrains } from "./settings.js";
import { scored, told } from "./words.js";

export class Session {
  constructor(settings) {
    Object.assign(this, { settings, rows: [], kept: null, chosen: null, guess: null });
    this.score = { right: 0, guesses: 0 };
    this.renew();
  }

  // A new run with the settings of now.
  renew() {
    this.run = { settings: { ...this.settings } };
    this.rows = [];
    this.chosen = null;
  }

  // A setting was changed that this run does not have.
  get stale() {
    return retrains(this.settings, this.run.settings);
  }

  // What is asked of the networks without a training: temperature, and noise of the new images.
  ask() {
    const { temperature, T, testNoise } = this.settings;
    Object.assign(this.run.settings, { temperature, T, testNoise });
    if (this.run.scores) this.measure();
  }

  // An answer of the worker.
  take({ task, epoch, ...answer }) {
    Object.assign(this.run, answer);
    if (answer.test) this.run.exact = judge(answer.test.posterior, answer.test.labels);
    this.measure();
    if (task === "epoch") {
      this.rows.push(rowOf(epoch, this.plain.train, this.plain.test, this.run.train.share));
    }
  }

  // Judged with the temperature that is asked for, and as trained.
  measure() {
    const { scores, train, test, heldLabels, exact, settings } = this.run;
    this.T = temperatureOf(settings, scores, heldLabels);
    const all = (T) => ({ exact, train: judgeLogits(scores.train, train.labels, T),
      test: judgeLogits(scores.test, test.labels, T) });
    this.judged = all(this.T);
    this.plain = this.T === 1 ? this.judged : all(1);
  }

  keep() {
    const { run, judged, rows, T } = this;
    this.kept = { settings: { ...run.settings }, judged, rows: [...rows], T };
  }

  // The score of a guess, or nothing where none was made.
  settle() {
    if (!this.guess) return "";
    const { gap } = this.judged.test, { guess } = this;
    this.score.guesses += 1;
    this.score.right += guess === signOf(gap) ? 1 : 0;
    this.guess = null;
    return scored(guess, gap, this.score);
  }

  get words() {
    return this.rows.length ? told(this.rows.length, this.judged.test, this.judged.exact) : "";
  }
}
