/** Turns of the loop that one measurement takes. */
const TURNS = 200_000;

/**
 * Microseconds of one turn of a fixed loop: an object with eight fields is made, found in a table by a number, and added up. Other
 * times of the same process are told as multiples of it, which hold on any machine.
 */
export function yardstickMicros(): number {
  const known = new Map<number, { readonly size: number }>();
  for (let key = 0; key < 512; key++) known.set(key * 7919, { size: key });
  let sum = 0;
  const start = performance.now();
  for (let turn = 0; turn < TURNS; turn++) {
    const found = known.get((turn % 512) * 7919);
    const made = { a: turn, b: found, c: sum, d: turn + 1, e: turn + 2, f: turn + 3, g: found, h: 0 };
    sum += (made.b?.size ?? 0) + (made.d & made.f);
  }
  const micros = (1000 * (performance.now() - start)) / TURNS;
  // Else the loop could be left out.
  if (sum === 0) throw new Error('the sum of the yardstick is 0');
  return micros;
}
