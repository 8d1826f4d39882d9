import type { RunFunction } from './code-table.ts';

/**
 * Does all tiles of a command on this thread. Several calls, as an engine has better code for the later ones. Refers to
 * nothing outside of itself: workers get its source.
 */
export function runTiles(run: RunFunction, args: number, tiles: number, scratch: number): void {
  for (let first = 0; first < tiles;) {
    const end = first + Math.max(1, Math.floor((tiles - first) / 8));
    run(args, first, end, scratch);
    first = end;
  }
}
