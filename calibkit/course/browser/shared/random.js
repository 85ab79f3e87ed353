// Random numbers that belong to a seed: equal seeds give equal runs in one browser.
// Uniform ones by sfc32 (Chris Doty-Humphrey, PractRand); the browser's own cannot be seeded.

export class Random {
  // seed: an integer. purpose: words; each purpose has a stream of its own, so that more images
  // leave the initial weights as they are.
  constructor(seed, purpose = "") {
    let hash = 2166136261; // FNV-1a of both
    for (const letter of `${seed}/${purpose}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
    const word = () => { // splitmix32 fills the state
      hash = (hash + 0x9e3779b9) | 0;
      let x = hash ^ (hash >>> 16);
      x = Math.imul(x, 0x21f0aaad);
      x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
      return x ^ (x >>> 15);
    };
    this.a = word();
    this.b = word();
    this.c = word();
    this.count = 1;
    this.spare = null;
    for (let i = 0; i < 12; i += 1) this.bits();
  }

  // 32 random bits as an integer from 0.
  bits() {
    const out = (this.a + this.b + this.count) | 0;
    this.count = (this.count + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + out) | 0;
    return out >>> 0;
  }

  // In [0, 1), from 53 bits.
  uniform() {
    return ((this.bits() >>> 5) * 67108864 + (this.bits() >>> 6)) / 9007199254740992;
  }

  // An integer from 0 to below n.
  integer(n) {
    return Math.floor(this.uniform() * n);
  }

  // Mean 0, standard deviation 1: Marsaglia's polar method, two at a time.
  normal() {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    let x, y, square;
    do {
      x = 2 * this.uniform() - 1;
      y = 2 * this.uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square === 0);
    const scale = Math.sqrt((-2 * Math.log(square)) / square);
    this.spare = y * scale;
    return x * scale;
  }

  // Beta(alpha, alpha), by way of Student's t as in calibkit.mixing.
  beta(alpha) {
    const radius = this.uniform() ** (-1 / alpha) - 1;
    const side = Math.cos(2 * Math.PI * this.uniform());
    return 0.5 + (0.5 * Math.sign(side)) / Math.sqrt(1 + 1 / (radius * side * side));
  }

  // 0 ... n - 1 in random order (Fisher and Yates).
  permutation(n) {
    const order = Uint32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i -= 1) {
      const j = this.integer(i + 1), kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    return order;
  }
}
