// The digits: 1,797 images of 8 x 8 pixels that people wrote (scikit-learn, UCI).
//
// The page holds them as text, one a line: its label, then a letter a pixel, row after row, from
// a (black) to q (brightest, 16 of 16).
export const CLASSES = 10;
export const PIXELS = 64;
const BRIGHTEST = 16;

// text -> count, images (count x 64, in [0, 1]), labels, and the digits of each class by number.
export function readDigits(text) {
  const lines = text.trim().split("\n"), count = lines.length;
  const images = new Float64Array(count * PIXELS), labels = new Uint8Array(count);
  const ofClass = Array.from({ length: CLASSES }, () => []);
  lines.forEach((line, i) => {
    labels[i] = Number(line[0]);
    ofClass[labels[i]].push(i);
    for (let pixel = 0; pixel < PIXELS; pixel += 1) {
      images[i * PIXELS + pixel] = (line.charCodeAt(1 + pixel) - 97) / BRIGHTEST;
    }
  });
  return { count, images, labels, ofClass };
}
