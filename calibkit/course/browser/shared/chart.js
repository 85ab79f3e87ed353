// A plain chart as SVG: axes, lines, dots, words. All other pictures are made of it.
const LEFT = 54, TOP = 30, WIDTH = 330, HEIGHT = 256, RIGHT = 14, BOTTOM = 46;

export class Chart {
  // x, y: [least, most]. ticks: values with a number beside the axis. labels: words of both axes.
  constructor({ title, x, y, xTicks, yTicks, labels, show = String }) {
    Object.assign(this, { title, xEnds: x, yEnds: y, xTicks, yTicks, labels, show, parts: [] });
  }

  x(value) {
    const share = (value - this.xEnds[0]) / (this.xEnds[1] - this.xEnds[0]);
    return LEFT + share * (WIDTH - LEFT - RIGHT);
  }

  y(value) {
    const share = (value - this.yEnds[0]) / (this.yEnds[1] - this.yEnds[0]);
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
  }

  line(points, look) {
    const d = points.map(([x, y]) => `${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`).join("L");
    if (points.length) this.parts.push(`<path class="${look}" d="M${d}"/>`);
    return this;
  }

  dot([x, y], look, radius = 5) {
    this.parts.push(`<circle class="${look}" cx="${this.x(x).toFixed(1)}" cy="${this.y(y).toFixed(1)}" r="${radius}"/>`);
    return this;
  }

  box(x0, x1, y0, y1, look) {
    const [a, b, c, d] = [this.x(x0), this.x(x1), this.y(y0), this.y(y1)].map((v) => v.toFixed(1));
    this.parts.push(`<path class="${look}" d="M${a},${c}V${d}H${b}V${c}z"/>`);
    return this;
  }

  words(x, y, text, look = "", anchor = "start") {
    this.parts.push(`<text class="${look}" x="${this.x(x)}" y="${this.y(y)}" text-anchor="${anchor}">${text}</text>`);
    return this;
  }

  // The picture; description: what it shows, for those who do not see it.
  svg(description) {
    const floor = HEIGHT - BOTTOM, middle = (LEFT + WIDTH - RIGHT) / 2;
    const text = (x, y, words, more) => `<text x="${x}" y="${y}" ${more}>${words}</text>`;
    const below = this.xTicks.map((tick) => text(this.x(tick), floor + 18, this.show(tick, "x"), 'text-anchor="middle"'));
    const beside = this.yTicks.map((tick) => text(LEFT - 6, this.y(tick) + 5, this.show(tick, "y"), 'text-anchor="end"'));
    return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${this.title}: ${description}">
<text class="title" x="${WIDTH / 2}" y="19" text-anchor="middle">${this.title}</text>${this.parts.join("")}
<path class="frame" d="M${LEFT},${TOP}V${floor}H${WIDTH - RIGHT}"/>${below.join("")}${beside.join("")}
${text(middle, HEIGHT - 6, this.labels[0], 'text-anchor="middle"')}
<text text-anchor="middle" transform="translate(13 ${(TOP + floor) / 2}) rotate(-90)">${this.labels[1]}</text></svg>`;
  }
}
