// Where a function that rises, or falls, crosses 0 between two ends of different signs.
//
//   rootOf(f, low, high, near) -> x, to within `near`
// By the false position, which halves the weight of an end that stays (Illinois; Dowell & Jarratt
// 1971). Every third step halves the range, so that no function can make it slow.
export function rootOf(f, low, high, near) {
  let atLow = f(low), atHigh = f(high), stays = 0;
  for (let step = 1; high - low > near; step += 1) {
    const guess = (low * atHigh - high * atLow) / (atHigh - atLow);
    const inside = step % 3 && guess > low && guess < high, x = inside ? guess : (low + high) / 2;
    if (x === low || x === high) break;
    const value = f(x);
    if (value === 0) return x;
    if (value < 0 === atLow < 0) {
      [low, atLow] = [x, value];
      if (stays === 1) atHigh /= 2;
      stays = 1;
    } else {
      [high, atHigh] = [x, value];
      if (stays === -1) atLow /= 2;
      stays = -1;
    }
  }
  return (low + high) / 2;
}
