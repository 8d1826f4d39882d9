/** `run` of a kernel's module. */
type RunFunction = (args: number, first: number, end: number, scratch: number) => void;

/** Gives the `run` of a code, which it compiles when it is new. */
export type CodeTable = (index: number, version: number, bytes: () => Uint8Array<ArrayBuffer>) => RunFunction;

/**
 * The codes that a thread has compiled. Refers to nothing outside of itself: workers get its source.
 *
 * @param memory - imported by the modules
 */
export function makeCodeTable(memory: WebAssembly.Memory): CodeTable {
  const table: Array<{ readonly version: number; readonly run: RunFunction } | undefined> = [];
  return (index, version, bytes) => {
    const known = table[index];
    if (known?.version === version) return known.run;
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes()), { env: { memory } });
    const run = exports['run'] as RunFunction;
    table[index] = { version, run };
    return run;
  };
}

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
