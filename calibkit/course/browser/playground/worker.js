// The part that trains, in a thread of its own, so that the page stays quick.
// It is asked for one epoch at a time: who wants to pause does not ask.
//
//   { task: "begin", digits, settings }  -> { images and labels, scores of the untrained network }
//   { task: "epoch" }                    -> { epoch, loss, scores }
//   { task: "test", settings }           -> { test, scores } of new images under other noise
// Each carries the number of its run, so that a late answer is known as such.
import { readDigits } from "./digits.js";
import { Run, testData } from "./run.js";

export function serve(port) {
  let digits = null, run = null, test = null, made = "";

  const renew = (settings) => { // new images are drawn again only where they would be others
    const key = [settings.seed, settings.testNoise || settings.noise].join();
    if (key !== made) test = testData(digits, settings);
    made = key;
  };
  const scores = () => ({
    train: run.logits(run.train.images),
    held: run.logits(run.held.images),
    test: run.logits(test.images),
  });
  const tasks = {
    begin({ digits: text, settings }) {
      digits ??= readDigits(text);
      run = new Run(digits, settings);
      renew(settings);
      return { train: run.train, heldLabels: run.held.labels, test, scores: scores() };
    },
    epoch() {
      const begun = performance.now(), loss = run.epoch();
      const took = performance.now() - begun;
      return { epoch: run.trainings[0].done, loss, took, scores: scores() };
    },
    test({ settings }) {
      renew(settings);
      return { test, scores: scores() };
    },
  };
  port.onmessage = ({ data }) => {
    const answer = tasks[data.task](data);
    port.postMessage({ task: data.task, number: data.number, ...answer });
  };
}
