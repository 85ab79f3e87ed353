// All rounds of a class: one a student and occasion, and what changed from before to after.
import { ROUNDS, roundOf } from "./round_file.js";
import { binnedOf, intervalsOfStudents, pooledOf, scoreOf, toppedOf } from "./scores.js";
import { verdictOf } from "./student_t.js";

const keyOf = (code) => code.normalize("NFC").toLowerCase();

export class Classroom {
  constructor(questions) {
    this.questions = questions;
    this.clear();
  }

  clear() {
    this.rounds = { before: new Map(), after: new Map() };
  }

  // Takes the text of a file; returns what was done, or throws an Error that says what is wrong.
  add(text) {
    const read = roundOf(text, this.questions), there = this.rounds[read.round], key = keyOf(read.code);
    const again = there.has(key);
    there.set(key, read);
    return again ? `${read.code}, ${read.round}: took the place of an earlier file` : "";
  }

  count(round) {
    return this.rounds[round].size;
  }

  tops(round) {
    return [...this.rounds[round].values()].map((one) => toppedOf(one, this.questions));
  }

  // Diagram, score and, from two students on, intervals of an occasion; null without a file.
  summary(round) {
    const tops = this.tops(round);
    if (!tops.length) return null;
    const scores = tops.map(scoreOf);
    const intervals = scores.length > 1 ? intervalsOfStudents(scores) : null;
    return { students: tops.length, binned: binnedOf(pooledOf(tops)), score: scoreOf(pooledOf(tops)), intervals };
  }

  // The codes of those who answered twice.
  pairs() {
    return [...this.rounds.before.keys()].filter((key) => this.rounds.after.has(key));
  }

  // After minus before, student by student, judged; empty with fewer than two pairs.
  verdicts() {
    const pairs = this.pairs();
    if (pairs.length < 2) return [];
    const of = (round, key) => scoreOf(toppedOf(this.rounds[round].get(key), this.questions));
    const both = pairs.map((key) => ROUNDS.map((round) => of(round, key)));
    return [
      verdictOf("own1", "after the course the Brier score is lower", both.map(([was, is]) => is.brier - was.brier)),
      verdictOf("own2", "after the course the gap is nearer to zero",
        both.map(([was, is]) => Math.abs(is.gap) - Math.abs(was.gap))),
    ];
  }

  // Question by question, over all files: how many were right, and how sure. The widest gap first.
  byQuestion() {
    const tops = ROUNDS.flatMap((round) => this.tops(round));
    if (!tops.length) return [];
    const share = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const rows = this.questions.map(({ text, options }, place) => {
      const right = share(tops.map(({ correct }) => correct[place]));
      const sure = share(tops.map(({ confidence }) => confidence[place]));
      return { text, options, right, sure, gap: sure - right };
    });
    return rows.sort((one, other) => other.gap - one.gap);
  }
}
