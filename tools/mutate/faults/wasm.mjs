// @ts-check

const heap = 'packages/backend-wasm/src/memory/heap.ts';
const ring = 'packages/backend-wasm/src/pool/command-ring.ts';
const serveRing = 'packages/backend-wasm/src/pool/serve-ring.ts';
const runTiles = 'packages/backend-wasm/src/pool/code-table.ts';
const reads = 'packages/backend-wasm/src/pool/pending-reads.ts';
const machine = 'packages/backend-wasm/src/pool/shared-machine.ts';
const steps = 'packages/backend-wasm/src/pool/steps-machine.ts';
const scoped = 'packages/backend-wasm/src/kernels/all-kernels.ts';
const ranges = 'packages/backend-wasm/src/kernels/memory/ranges.ts';

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
    file: ranges,
    find: 'body.if(i32.ltU(rest, wanted), () => body.set(wanted, rest));',
    replace: '',
    breaks: 'A copy writes beyond its end.',
  },
  // Planted by somebody who had not read the tests.
  {
    file: 'packages/backend-wasm/src/memory/heap.ts',
    find: '      idleAt: Math.max(idleAt, before?.idleAt ?? 0, after?.idleAt ?? 0),',
    replace: '      idleAt: Math.max(idleAt, before?.idleAt ?? 0),',
    breaks:
      'With threads, memory joined with a following free block that queued commands still use is taken for idle: an upload overwrites what a command has yet to read.',
  },
  {
    file: 'packages/backend-wasm/src/pool/pending-reads.ts',
    find: '    return Math.min(done, (first?.asked ?? Infinity) - 1);',
    replace: '    return Math.min(done, first?.asked ?? Infinity);',
    breaks:
      'With threads, memory that was freed right after a read of it was called is given to an upload before it is copied: the read delivers wrong bytes.',
  },
  {
    file: 'packages/backend-wasm/src/pool/pending-reads.ts',
    find: '      if (read.ownsMemory) this.#source.give(read.address);',
    replace: '',
    breaks: 'Each read after which more is queued leaks a copy of its source in the linear memory.',
  },
  {
    file: 'packages/backend-wasm/src/pool/shared-machine.ts',
    find: '  write(address: number, bytes: Uint8Array): void {\n    this.#reads.beforeChange();',
    replace: '  write(address: number, bytes: Uint8Array): void {',
    breaks:
      'An upload after copyDtoh, not awaited, of the same memory changes the bytes that the earlier read delivers.',
  },
  {
    file: 'packages/backend-wasm/src/pool/machine.ts',
    find: '    if (this.#lists.size === 0) this.#giveScratch();',
    replace: '    this.#giveScratch();',
    breaks:
      'Disposing one recording takes the scratch memory from all others: their replays write over the ring at address 0.',
  },
  {
    file: 'packages/backend-wasm/src/pool/command-list.ts',
    find: '    this.#free = this.#free.filter((other) => other !== block);',
    replace: '',
    breaks:
      'In a recording, two temporaries of one op share memory once an earlier op has given some back: wrong numbers at replay.',
  },
  {
    file: 'packages/backend-wasm/src/pool/code-registry.ts',
    find: 'version: ++this.#version, address };',
    replace: 'version: this.#version, address };',
    breaks: 'A program with more than 1,024 kernels runs the old code of an index that was given to a new kernel.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/gemm/product.ts',
    find: "  const key = `product ${form.a} ${form.c} ${form.source} ${epilogue?.key ?? ''}`;",
    replace: "  const key = `product ${form.a} ${form.c} ${epilogue?.key ?? ''}`;",
    breaks:
      "A convolution with a 3x3 filter after a pointwise one (or the other way round) uses the code that packs the other's columns: wrong numbers.",
  },
  {
    file: 'packages/backend-wasm/src/kernels/gemm/product.ts',
    find: '  const packedBytes = 4 * k * roundUp(n, TILE_COLUMNS);',
    replace: '  const packedBytes = 4 * k * n;',
    breaks:
      'With n no multiple of the panel width, the packed B overflows its memory: batches or neighbouring allocations are overwritten.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/attention/attention-tile.ts',
    find: '      body.set(isPartial, i32.or(isPartial, i32.or(first, i32.ne(end, keys))));',
    replace: '      body.set(isPartial, i32.or(isPartial, first));',
    breaks: 'Causal attention over values with an infinity or NaN in a key that a query does not see gives NaN.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/attention/attention.ts',
    find: '  const bytes = largestAt + aligned(2 * rows);',
    replace: '  const bytes = largestAt + aligned(rows);',
    breaks:
      "The states of the last queries of a tile overlap the next thread's scratch memory: wrong numbers now and then with threads.",
  },
  {
    file: 'packages/backend-wasm/src/kernels/conv2d/conv2d.ts',
    find: '    filterHeight === 1 && filterWidth === 1 && stride[0] === 1 && stride[1] === 1 && padding.every((side) => side === 0)',
    replace:
      '    filterHeight === 1 && filterWidth === 1 && stride[0] === 1 && stride[1] === 1 && padding[0] + padding[1] === 0',
    breaks: 'A 1x1 convolution that is padded at the bottom or right only reads the image with the wrong width.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/conv2d/conv2d.ts',
    find: '    const c = given.c + elementBytes * firstImage * groups * given.strideC;',
    replace: '    const c = given.c + elementBytes * firstImage * given.strideC;',
    breaks:
      'A padded convolution with groups over more images than 64 MiB hold stores the images of the second turn over those of the first.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/epilogue/epilogue-form.ts',
    find: '  return goesOn && !asksFor(kernel.nodes, 2) && !asksFor(kernel.nodes, 3);',
    replace: '  return goesOn && !asksFor(kernel.nodes, 2);',
    breaks: 'An epilogue of a convolution that asks for the column of an element gets its place in the whole plane.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/arithmetic/exp.ts',
    find: 'const LEAST = -104;',
    replace: 'const LEAST = -103;',
    breaks: 'Exp(-Infinity), and of everything below -104, gives the smallest subnormal instead of 0.',
  },
  {
    file: 'packages/backend-wasm/src/provider.ts',
    find: '    create: (createOptions) => new WasmBackend({ ...options, ...createOptions }),',
    replace: '    create: () => new WasmBackend(options),',
    breaks: 'SelectBackend with create: { memoryLimitBytes } makes a wasm backend without a limit.',
  },
  {
    file: 'packages/backend-wasm/src/memory/linear-memory.ts',
    find: '    memory.grow(Math.ceil((wanted - has) / PAGE_BYTES));',
    replace: '    memory.grow(Math.floor((wanted - has) / PAGE_BYTES));',
    breaks:
      'A large allocation whose end is not at a page boundary lies partly beyond the memory: uploads throw a RangeError, kernels trap.',
  },
  {
    file: 'packages/backend-wasm/src/pool/done-watch.ts',
    find: '    this.#isWatching = false;\n    this.#keepAlive(false);',
    replace: '    this.#isWatching = false;',
    breaks: 'After the first wait a Node program with the wasm backend that does not dispose it never exits.',
  },
  {
    file: 'packages/backend-wasm/src/pool/steps-machine.ts',
    find: '    if (this.#failure !== undefined) return Promise.reject(this.#failure);',
    replace: '',
    breaks: 'In mode worker a read or synchronize after a kernel has failed never settles.',
  },
  {
    file: 'packages/backend-wasm/src/pool/open-machine.ts',
    find: '    await Promise.all(workers.map((worker) => worker.terminate()));\n    throw error;',
    replace: '    throw error;',
    breaks:
      'When one of several workers does not start, the others go on running: threads leak and the process does not exit.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/conv2d/depthwise.ts',
    find: "          const at = [i32.add(image, word('firstImage')), filter, column] as const;",
    replace: '          const at = [image, filter, column] as const;',
    breaks:
      'A padded depthwise convolution with a residual over more images than 64 MiB hold adds the residual of the first images to later ones.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/gemm/vector.ts',
    find: "i32.mul(first, word('xStride')));",
    replace: 'first);',
    breaks:
      'A matrix times a strided vector (a column of a matrix) with more than 2,048 terms uses wrong elements from the second block on.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/gemm/product.ts',
    find: "    const inPlane = i32.add(i32.mul(remainder, word('m')), row);",
    replace: '    const inPlane = i32.add(remainder, row);',
    breaks: 'A convolution with several groups and a bias adds the bias of the wrong filters from the second group on.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/run/node-code.ts',
    find: '      i32.ltU(i32.add(run, LANES - 1), words.number(',
    replace: '      i32.ltU(run, words.number(',
    breaks:
      "A gather along a dense axis whose last vector reaches beyond the axis gives the next row's elements instead of the value outside.",
  },
  {
    file: 'packages/backend-wasm/src/kernels/run/plan-rows.ts',
    find: '    bytes += folds.length * 2 * STATE_BYTES * items;',
    replace: '    bytes += folds.length * STATE_BYTES * items;',
    breaks:
      'Argmax or max of few long rows, worked on in parts by threads, writes its states beyond their memory: wrong results or corrupted neighbours.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/all-kernels.ts',
    find: '      try {\n        kernel.run(call);\n      } finally {\n        end();\n      }',
    replace: '      kernel.run(call);\n      end();',
    breaks:
      'An op that fails for want of memory keeps its temporary memory: it is given to nobody until a later op ends.',
  },
  {
    file: 'packages/backend-wasm/src/kernels/run/fold-states.ts',
    find: "    const isSum = isFloat && (op === 'sum' || op === 'mean');",
    replace: "    const isSum = isFloat && op === 'sum';",
    breaks: 'The mean of long rows is summed in float32 alone: errors beyond the documented bound.',
  },
];
