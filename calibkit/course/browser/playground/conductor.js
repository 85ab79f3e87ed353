// Who asks the worker for one epoch after the other: Train, Pause, Step, Stop.
const LASTS = 2500; // ms that a training takes at least, so that one can watch it
const LONGEST = 120; // ms that an epoch is waited for

export class Conductor {
  // source: the text of the worker's script. digits: theirs. told(answer): gets each answer.
  constructor(source, digits, told) {
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    Object.assign(this, { digits, told, worker: null, number: 0, waiting: 0, state: "empty" });
  }

  // Data and untrained networks for these settings; what ran before is dropped.
  begin(settings) {
    if (this.waiting) this.end();
    this.number += 1;
    this.settings = settings;
    this.epoch = 0;
    this.state = "ready";
    if (!this.worker) {
      this.worker = new Worker(this.url);
      this.worker.onmessage = ({ data }) => this.hear(data);
    }
    this.ask({ task: "begin", digits: this.digits, settings });
  }

  play() {
    this.state = "running";
    if (!this.waiting) this.ask({ task: "epoch" });
  }

  pause() {
    this.state = "paused";
    clearTimeout(this.timer);
  }

  // One epoch; in the midst of a training, no more than the one that is being computed.
  step() {
    const ran = this.state === "running";
    this.pause();
    if (ran) return;
    this.wantsOne = true;
    if (!this.waiting) this.ask({ task: "epoch" });
  }

  // New images under other noise, for the networks as they are.
  renew(settings) {
    if (this.worker) this.ask({ task: "test", settings });
  }

  stop() {
    this.end();
    this.state = "stopped";
  }

  end() {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
    this.waiting = 0;
    this.wantsOne = false;
  }

  ask(message) {
    this.waiting += 1;
    this.asked = performance.now();
    if (message.task === "epoch") this.wantsOne = false;
    this.worker.postMessage({ number: this.number, ...message });
  }

  hear(answer) {
    this.waiting -= 1;
    if (answer.number !== this.number) return;
    if (answer.task === "epoch") {
      this.epoch = answer.epoch;
      if (this.epoch >= this.settings.epochs) this.state = "done";
    }
    if (!this.waiting && this.wantsOne && this.state === "paused") this.ask({ task: "epoch" });
    else if (this.state === "running" && !this.waiting) this.later();
    this.told(answer); // while the next epoch is being computed
  }

  later() {
    const pace = Math.min(LONGEST, LASTS / this.settings.epochs);
    const left = pace - (performance.now() - this.asked);
    const next = () => {
      if (this.state === "running" && !this.waiting) this.ask({ task: "epoch" });
    };
    if (left <= 0) next();
    else this.timer = setTimeout(next, left);
  }
}
