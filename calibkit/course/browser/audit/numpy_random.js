// The numbers of numpy.random.default_rng(0), so that halves and tests are those of the command.
// PCG64: a state of 128 bits, multiplied, and folded to 64 (O'Neill 2014, XSL-RR).
const LIMB = 2 ** 24, UP = 1 / LIMB; // six limbs of 24 bits hold the 128 of the state; the last has 8
const limbs = (number) => Array.from({ length: 6 }, (_, k) => Number((number >> BigInt(24 * k)) & 0xffffffn));
const [M0, M1, M2, M3, M4, M5] = limbs(0x2360ed051fc65da44385df649fccf645n);
const START = 35399562948360463058890781895381311971n; // of seed 0
const [I0, I1, I2, I3, I4, I5] = limbs(87136372517582989555478159403783844777n);
const AHEAD = 1024; // draws that are made at a time

export class NumpyRandom {
  constructor() {
    this.state = limbs(START);
    this.words = new Uint32Array(2 * AHEAD); // the upper and the lower half of each draw
    this.at = 2 * AHEAD;
    this.spare = null; // half of a draw, which whole numbers take later
  }

  refill() {
    const { words } = this;
    let [a, b, c, d, e, f] = this.state;
    for (let at = 0; at < words.length; at += 2) {
      const s0 = a * M0 + I0, k0 = Math.floor(s0 * UP);
      const s1 = a * M1 + b * M0 + I1 + k0, k1 = Math.floor(s1 * UP);
      const s2 = a * M2 + b * M1 + c * M0 + I2 + k1, k2 = Math.floor(s2 * UP);
      const s3 = a * M3 + b * M2 + c * M1 + d * M0 + I3 + k2, k3 = Math.floor(s3 * UP);
      const s4 = a * M4 + b * M3 + c * M2 + d * M1 + e * M0 + I4 + k3, k4 = Math.floor(s4 * UP);
      const s5 = a * M5 + b * M4 + c * M3 + d * M2 + e * M1 + f * M0 + I5 + k4;
      a = s0 - k0 * LIMB; b = s1 - k1 * LIMB; c = s2 - k2 * LIMB;
      d = s3 - k3 * LIMB; e = s4 - k4 * LIMB; f = s5 - Math.floor(s5 / 256) * 256;
      const top = e | (f << 24), high = top ^ ((b >>> 8) | (c << 16));
      const low = ((c >>> 16) | (d << 8)) ^ (a | (b << 24)), turn = top >>> 26, part = turn & 31;
      const right = part ? (high >>> part) | (low << (32 - part)) : high;
      const left = part ? (low >>> part) | (high << (32 - part)) : low;
      words[at] = turn < 32 ? right : left;
      words[at + 1] = turn < 32 ? left : right;
    }
    this.state = [a, b, c, d, e, f];
    this.at = 0;
  }

  // In [0, 1), as random().
  uniform() {
    if (this.at === 2 * AHEAD) this.refill();
    this.at += 2;
    return (this.words[this.at - 2] * 2097152 + (this.words[this.at - 1] >>> 11)) / 9007199254740992;
  }

  // 32 random bits; the lower half of a draw comes first.
  bits() {
    const { spare } = this;
    if (spare !== null) {
      this.spare = null;
      return spare;
    }
    if (this.at === 2 * AHEAD) this.refill();
    this.at += 2;
    this.spare = this.words[this.at - 2];
    return this.words[this.at - 1];
  }

  // 0 ... n - 1 in random order, as permutation(numpy.arange(n)).
  order(n) {
    const order = Uint32Array.from({ length: n }, (_, place) => place);
    for (let place = n - 1; place > 0; place -= 1) {
      const mask = 0xffffffff >>> Math.clz32(place);
      let other;
      do other = (this.bits() & mask) >>> 0;
      while (other > place);
      const kept = order[place];
      order[place] = order[other];
      order[other] = kept;
    }
    return order;
  }
}
