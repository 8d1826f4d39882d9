// @ts-check

const heap = 'packages/backend-wasm/src/memory/heap.ts';
const ring = 'packages/backend-wasm/src/pool/command-ring.ts';
const serveRing = 'packages/backend-wasm/src/pool/serve-ring.ts';
const runTiles = 'packages/backend-wasm/src/pool/run-tiles.ts';
const reads = 'packages/backend-wasm/src/pool/pending-reads.ts';
const machine = 'packages/backend-wasm/src/pool/shared-machine.ts';
const steps = 'packages/backend-wasm/src/pool/steps-machine.ts';
const scoped = 'packages/backend-wasm/src/scoped-kernels.ts';
const copy = 'packages/backend-wasm/src/kernels/memory/copy.ts';

/** Faults of the WebAssembly backend's pool and memory.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const wasmFaults = [
  {
    file: heap,
    find: 'block.bytes >= size && block.idleAt <= done',
    replace: 'block.bytes >= size',
    breaks: 'The caller writes into memory that queued work still uses.',
  },
  {
    file: heap,
    find: 'Math.max(idleAt, before?.idleAt ?? 0, after?.idleAt ?? 0)',
    replace: 'idleAt',
    breaks: 'A block joined of two is taken to be idle when the last freed one is.',
  },
  {
    file: ring,
    find: '(Atomics.load(this.#words, L.done) - this.#done) | 0',
    replace: '1',
    breaks: 'Commands count as done that are not.',
  },
  {
    file: ring,
    find: 'words[slot + L.left] = content.tiles;',
    replace: 'words[slot + L.left] = 1;',
    breaks: 'The next command begins while tiles of this one are under way.',
  },
  {
    file: serveRing,
    find: 'const end = Math.min(tiles, first + wanted);',
    replace: 'const end = first + wanted;',
    breaks: 'A thread computes tiles that there are none of.',
  },
  {
    file: serveRing,
    find: '+ index * (words[slot',
    replace: '+ 0 * (words[slot',
    breaks: 'Threads pack their panels into the same memory.',
  },
  {
    file: serveRing,
    find: 'ringParts.reportFault(thread, fault);',
    replace: 'void fault;',
    breaks: 'A kernel that traps looks as if it had computed something.',
  },
  {
    file: runTiles,
    find: '    first = end;',
    replace: '    first = end + 1;',
    breaks: 'Without shared memory tiles are left out.',
  },
  {
    file: reads,
    find: 'const [first = this.#open[0]] = this.#copied;',
    replace: 'const [first] = this.#open;',
    breaks: 'Memory of a read that was freed is written before it is copied.',
  },
  {
    file: machine,
    find: `    this.#reads.beforeChange();
    this.#push(command, scratch, stride);`,
    replace: '    this.#push(command, scratch, stride);',
    breaks: 'A read gives what a later op has made of the memory.',
  },
  {
    file: machine,
    find: 'const staging = this.#isIdle() ? undefined : this.#takeIdle(bytes.byteLength);',
    replace: 'const staging = undefined;',
    breaks: 'A copy to the device overtakes the op that reads what was there.',
  },
  {
    file: steps,
    find: 'for (const { reject } of this.#reads.values()) reject(this.#failure);',
    replace: '',
    breaks: 'Without shared memory a wait for work that failed never ends.',
  },
  {
    file: scoped,
    find: '        end();',
    replace: '',
    breaks: 'Memory that an op took for itself is never given back.',
  },
  {
    file: copy,
    find: 'body.if(i32.ltU(rest, wanted), () => body.set(wanted, rest));',
    replace: '',
    breaks: 'A copy writes beyond its end.',
  },
];
