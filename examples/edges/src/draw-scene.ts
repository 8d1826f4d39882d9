import { randomNumbers } from '@concord/example-command';
import type { Picture } from './picture.ts';

// The picture that the README filters: three balls on a chessboard, traced, with grains of dust. Only arithmetic that
// is rounded the same way everywhere, so that it is the same picture on every machine.
type Vector = readonly [number, number, number];

interface Ball {
  readonly centre: Vector;
  readonly radius: number;
  readonly colour: Vector;
}

const BALLS: readonly Ball[] = [
  { centre: [-1.35, 0.9, 4.6], radius: 0.9, colour: [0.85, 0.2, 0.18] },
  { centre: [0.75, 1.15, 5.6], radius: 1.15, colour: [0.16, 0.42, 0.78] },
  { centre: [0.15, 0.45, 3.3], radius: 0.45, colour: [0.93, 0.72, 0.16] },
];
const EYE: Vector = [0, 1.5, -1.2];
const LIGHT = normalise([-0.6, 0.9, -0.55]);
/** Rays for one pixel, along each axis. */
const SAMPLES = 3;
const DUST = 0.04;

/** Draws the scene; `width` and `height` in pixels. */
export function drawScene(width: number, height: number): Picture {
  const pixels = new Uint8Array(3 * width * height);
  const random = randomNumbers(20);
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const colour = [0, 0, 0];
    for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
      const right = (x + ((sample % SAMPLES) + 0.5) / SAMPLES - width / 2) / height;
      const up = (height / 2 - y - (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES) / height;
      const seen = colourSeen(EYE, normalise([right, up - 0.1, 1.15]));
      for (const [channel, value] of seen.entries()) colour[channel] = (colour[channel] as number) + value;
    }
    const dust = random() < DUST ? (random() < 0.5 ? -45 : 45) : 0;
    for (const [channel, value] of colour.entries()) {
      const shown = 255 * Math.sqrt(Math.min(1, value / (SAMPLES * SAMPLES))) + dust;
      pixels[3 * i + channel] = Math.min(255, Math.max(0, Math.round(shown)));
    }
  }
  return { width, height, channels: 3, pixels };
}

function colourSeen(from: Vector, ray: Vector): Vector {
  const hit = nearest(from, ray);
  if (hit !== undefined) {
    const at = add(from, scale(ray, hit.distance));
    const normal = normalise(add(at, scale(hit.ball.centre, -1)));
    const lit = isShadowed(at, normal) ? 0 : Math.max(0, dot(normal, LIGHT));
    const shine = lit === 0 ? 0 : squared(Math.max(0, dot(normal, normalise(add(LIGHT, scale(ray, -1))))), 6);
    return add(scale(hit.ball.colour, 0.12 + 0.88 * lit), [0.6 * shine, 0.6 * shine, 0.6 * shine]);
  }
  if (ray[1] >= 0) return add([0.5, 0.68, 0.9], scale([-0.35, -0.38, -0.3], ray[1] * 2));
  const distance = -from[1] / ray[1];
  const at = add(from, scale(ray, distance));
  const isDark = (Math.floor(at[0]) + Math.floor(at[2])) % 2 !== 0;
  const light = isShadowed(at, [0, 1, 0]) ? 0.35 : 1;
  // The board fades into the sky far away.
  const near = 1 / (1 + squared(distance / 14, 2));
  const board = scale(isDark ? [0.14, 0.15, 0.17] : [0.8, 0.77, 0.7], light * near);
  return add(board, scale([0.5, 0.68, 0.9], 1 - near));
}

function isShadowed(at: Vector, normal: Vector): boolean {
  return nearest(add(at, scale(normal, 1e-6)), LIGHT) !== undefined;
}

function nearest(from: Vector, ray: Vector): { readonly ball: Ball; readonly distance: number } | undefined {
  let found: { ball: Ball; distance: number } | undefined;
  for (const ball of BALLS) {
    const away = add(from, scale(ball.centre, -1));
    const half = dot(away, ray);
    const root = half * half - dot(away, away) + ball.radius * ball.radius;
    const distance = -half - Math.sqrt(Math.max(0, root));
    if (root >= 0 && distance > 0 && distance < (found?.distance ?? Infinity)) found = { ball, distance };
  }
  return found;
}

function add(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function scale(a: Vector, factor: number): Vector {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function normalise(a: Vector): Vector {
  return scale(a, 1 / Math.sqrt(dot(a, a)));
}

/** `value` squared `times` times. `**` is not rounded the same way everywhere. */
function squared(value: number, times: number): number {
  let power = value;
  for (let i = 0; i < times; i++) power *= power;
  return power;
}
