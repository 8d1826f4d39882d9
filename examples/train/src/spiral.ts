import { randomNumbers } from '@concord/example-command/random';

/** Points of the plane in three arms of a spiral, and the arm of each. */
export interface Points {
  /** `[count, 2]` */
  readonly positions: Float32Array;
  readonly classes: Uint32Array;
}

/** The number of arms. */
export const CLASSES = 3;

/** Points that no line can tell apart: arm c at radius r lies around the angle `4 r + 2 pi c / 3`. */
export function spiral(count: number, seed: number): Points {
  const random = randomNumbers(seed);
  const positions = new Float32Array(2 * count);
  const classes = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const arm = i % CLASSES;
    const radius = Math.sqrt(random());
    const angle = 4 * radius + (2 * Math.PI * arm) / CLASSES + 0.5 * (random() - 0.5);
    positions.set([radius * Math.cos(angle), radius * Math.sin(angle)], 2 * i);
    classes[i] = arm;
  }
  return { positions, classes };
}
