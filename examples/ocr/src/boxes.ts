import type { Point } from './picture.ts';

/** A rectangle around a line of text: its middle, half its sides, and the direction that the text runs in, of length 1. */
export interface Box {
  readonly middle: Point;
  readonly half: Point;
  readonly along: Point;
}

/** Above it a pixel belongs to text, and the mean of a line's pixels has to be above `SURE`. */
const [TEXT, SURE] = [0.3, 0.6];
/** The model marks the core of a line: a box grows by this share of its area over its outline. With 1.5, as is usual, spaces are lost. */
const GROWTH = 2;
/** Pixels of the shorter side, before that. */
const MIN_SIDE = 3;
/** Longer ones that are higher than wide are read from above down. */
const LONG = 1.5;

/**
 * The boxes around the lines of text, as they are read.
 *
 * @param map - by pixel, how likely it belongs to text
 */
export function boxesOf(map: Float32Array, width: number, height: number): Box[] {
  const seen = new Uint8Array(map.length);
  const boxes: Box[] = [];
  for (let at = 0; at < map.length; at++) {
    if (seen[at] === 1 || (map[at] as number) <= TEXT) continue;
    const region = regionOf(map, seen, at, width, height);
    if (region.length < MIN_SIDE ** 2) continue;
    const mean = region.reduce((sum, each) => sum + (map[each] as number), 0) / region.length;
    const box = smallestBox(hullOf(region.map((each): Point => [each % width, Math.floor(each / width)])));
    if (mean > SURE && 2 * Math.min(...box.half) >= MIN_SIDE) boxes.push(grown(box));
  }
  return inReadingOrder(boxes);
}

/** The corners of a box: first where the text begins, above it, then clockwise as it is read. */
export function cornersOf({ middle: [x, y], half: [a, b], along: [dx, dy] }: Box): Point[] {
  return [
    [-a, -b],
    [a, -b],
    [a, b],
    [-a, b],
  ].map(([u = 0, v = 0]): Point => [x + u * dx - v * dy, y + u * dy + v * dx]);
}

/** The places that a place above the threshold is connected with. */
function regionOf(map: Float32Array, seen: Uint8Array, first: number, width: number, height: number): number[] {
  const region = [first];
  seen[first] = 1;
  // The list grows while it is gone through.
  for (const at of region) {
    const [x, y] = [at % width, Math.floor(at / width)];
    for (let i = 0; i < 9; i++) {
      const [column, row] = [x + (i % 3) - 1, y + Math.floor(i / 3) - 1];
      const next = row * width + column;
      if (column < 0 || row < 0 || column >= width || row >= height || seen[next] === 1) continue;
      if ((map[next] as number) <= TEXT) continue;
      seen[next] = 1;
      region.push(next);
    }
  }
  return region;
}

/** The convex hull, by Andrew's monotone chain. */
function hullOf(points: readonly Point[]): Point[] {
  const sorted = [...points].sort(([a, b], [c, d]) => a - c || b - d);
  const chain = (list: readonly Point[]): Point[] => {
    const hull: Point[] = [];
    for (const point of list) {
      while (hull.length > 1 && turn(hull.at(-2) as Point, hull.at(-1) as Point, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

/** The smallest rectangle around a hull: one of its sides lies on one of the hull's. */
function smallestBox(hull: readonly Point[]): Box {
  const boxes = hull.map((point, i): Box => {
    const next = hull[(i + 1) % hull.length] as Point;
    const length = Math.hypot(next[0] - point[0], next[1] - point[1]);
    return boxAlong(hull, [(next[0] - point[0]) / length, (next[1] - point[1]) / length]);
  });
  const area = ({ half }: Box): number => half[0] * half[1];
  const smallest = boxes.reduce((best, each) => (area(each) < area(best) ? each : best));
  const { half, along } = smallest;
  const isAcross = Math.abs(along[0]) >= Math.abs(along[1]);
  const isLong = Math.max(...half) >= LONG * Math.min(...half);
  // Along the longer side; what is about square is read as most is.
  const isQuarterTurn = isLong ? half[1] > half[0] : !isAcross;
  const direction: Point = isQuarterTurn ? [-along[1], along[0]] : along;
  const sign = Math.abs(direction[0]) >= Math.abs(direction[1]) ? Math.sign(direction[0]) : Math.sign(direction[1]);
  return boxAlong(hull, [sign * direction[0], sign * direction[1]]);
}

function boxAlong(points: readonly Point[], along: Point): Box {
  const [dx, dy] = along;
  const us = points.map(([x, y]) => x * dx + y * dy);
  const vs = points.map(([x, y]) => y * dx - x * dy);
  const [left, right, top, bottom] = [Math.min(...us), Math.max(...us) + 1, Math.min(...vs), Math.max(...vs) + 1];
  const [u, v] = [(left + right) / 2, (top + bottom) / 2];
  return { middle: [u * dx - v * dy, u * dy + v * dx], half: [(right - left) / 2, (bottom - top) / 2], along };
}

function grown({ half: [a, b], ...box }: Box): Box {
  const by = (GROWTH * a * b) / (a + b);
  return { ...box, half: [a + by, b + by] };
}

/** From above down, and from left to right what lies beside each other. */
function inReadingOrder(boxes: readonly Box[]): Box[] {
  const rows: Box[][] = [];
  for (const box of [...boxes].sort((a, b) => a.middle[1] - b.middle[1])) {
    const row = rows.at(-1);
    const isBeside = row !== undefined && box.middle[1] - (row[0] as Box).middle[1] < Math.min(...box.half);
    if (isBeside) row.push(box);
    else rows.push([box]);
  }
  return rows.flatMap((row) => row.sort((a, b) => a.middle[0] - b.middle[0]));
}
