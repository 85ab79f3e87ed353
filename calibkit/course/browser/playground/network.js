// The network: layers of weights with a bend (ReLU) between them, and its gradient by hand.
// Numbers as PyTorch lays them out: weight[o * inputs + i] leads from input i to output o.
const ROWS = 160; // images at a time

export class Network {
  // sizes: inputs, then the outputs of each layer, such as [64, 64, 10]. Weights begin as those of
  // torch.nn.Linear: evenly between -1 / sqrt(inputs) and 1 / sqrt(inputs).
  constructor(sizes, random) {
    this.layers = sizes.slice(1).map((outputs, place) => {
      const inputs = sizes[place], reach = 1 / Math.sqrt(inputs);
      const draw = () => Math.fround((2 * random.uniform() - 1) * reach);
      const weight = Float64Array.from({ length: inputs * outputs }, draw);
      const bias = Float64Array.from({ length: outputs }, draw);
      const gradient = { weight: new Float64Array(weight.length), bias: new Float64Array(outputs) };
      const reached = new Float64Array(ROWS * outputs); // what the layer says of each image
      const blame = new Float64Array(ROWS * outputs); // slope of the loss with what it says
      return { inputs, outputs, weight, bias, gradient, reached, blame, fed: null };
    });
  }

  get last() {
    return this.layers[this.layers.length - 1];
  }

  // x: images (rows x inputs), at most 160 of them. Logits (rows x outputs), until the next call.
  forward(x, rows) {
    for (const layer of this.layers) {
      layer.fed = x;
      multiply(layer, rows, layer !== this.last);
      x = layer.reached;
    }
    return x;
  }

  // After forward, and with the slope of the loss written into `last.blame`: all gradients.
  backward(rows) {
    for (let l = this.layers.length - 1; l >= 0; l -= 1) {
      collect(this.layers[l], rows);
      if (l > 0) passBack(this.layers[l], this.layers[l - 1], rows);
    }
  }

  // Logits of any number of images.
  logits(images) {
    const { inputs } = this.layers[0], { outputs } = this.last, n = images.length / inputs;
    const logits = new Float32Array(n * outputs), x = new Float64Array(ROWS * inputs);
    for (let first = 0; first < n; first += ROWS) {
      const rows = Math.min(ROWS, n - first);
      x.set(images.subarray(first * inputs, (first + rows) * inputs));
      logits.set(this.forward(x, rows).subarray(0, rows * outputs), first * outputs);
    }
    return logits;
  }
}

// reached = fed weight' + bias, cut off at 0 where the layer bends.
function multiply({ inputs, outputs, weight, bias, reached, fed }, rows, bends) {
  const even = inputs - (inputs % 4);
  for (let r = 0; r < rows; r += 1) {
    const row = r * inputs;
    for (let o = 0; o < outputs; o += 1) {
      const from = o * inputs;
      let a = bias[o], b = 0, c = 0, d = 0, i = 0; // four sums, which a processor adds side by side
      for (; i < even; i += 4) {
        a += fed[row + i] * weight[from + i];
        b += fed[row + i + 1] * weight[from + i + 1];
        c += fed[row + i + 2] * weight[from + i + 2];
        d += fed[row + i + 3] * weight[from + i + 3];
      }
      for (; i < inputs; i += 1) a += fed[row + i] * weight[from + i];
      const sum = a + b + (c + d);
      reached[r * outputs + o] = bends && sum < 0 ? 0 : sum;
    }
  }
}

// gradient of the weights = blame' fed, of the biases = the sum of blame.
function collect({ inputs, outputs, gradient, blame, fed }, rows) {
  gradient.weight.fill(0);
  gradient.bias.fill(0);
  for (let r = 0; r < rows; r += 1) {
    const row = r * inputs;
    for (let o = 0; o < outputs; o += 1) {
      const slope = blame[r * outputs + o], to = o * inputs;
      if (slope === 0) continue; // a unit that was cut off
      gradient.bias[o] += slope;
      for (let i = 0; i < inputs; i += 1) gradient.weight[to + i] += slope * fed[row + i];
    }
  }
}

// The blame of the layer below: blame weight, where that layer was not cut off.
function passBack({ inputs, outputs, weight, blame }, below, rows) {
  below.blame.fill(0, 0, rows * inputs);
  for (let r = 0; r < rows; r += 1) {
    const row = r * inputs;
    for (let o = 0; o < outputs; o += 1) {
      const slope = blame[r * outputs + o], from = o * inputs;
      if (slope === 0) continue;
      for (let i = 0; i < inputs; i += 1) below.blame[row + i] += slope * weight[from + i];
    }
    for (let i = row; i < row + inputs; i += 1) if (below.reached[i] <= 0) below.blame[i] = 0;
  }
}
