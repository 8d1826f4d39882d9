import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import koffi, { type LibraryHandle } from 'koffi';
import type { LimitCase } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { notOffered, type Peer, type Prepared, pick } from '../peer.ts';

const SOURCE = fileURLToPath(new URL('../../native/loops.c', import.meta.url));
const FLAGS = ['-std=c11', '-O3', '-march=native', '-shared', '-fPIC'];

/**
 * Plain loops in C on one core, compiled for this machine and called from Node on the arrays where they are.
 *
 * @throws {Error} where there is no C compiler
 */
export function cLoops(): Peer {
  const library = compile();
  const add = library.func('void add(uintptr_t a, uintptr_t b, uintptr_t c, size_t n)');
  const relu = library.func('void relu(uintptr_t x, uintptr_t y, size_t n)');
  const sumRows = library.func('void sum_rows(uintptr_t x, uintptr_t sums, size_t rows, size_t columns)');
  return {
    name: 'C loops',
    role: 'limit',
    version: `cc ${FLAGS.slice(1, 3).join(' ')}, 1 thread`,
    async prepare(limitCase) {
      const { work } = limitCase;
      switch (work.op) {
        case 'binary_add':
          return bind(limitCase, (a, b, c) => add(a, b, c, work.n));
        case 'unary_relu':
          return bind(limitCase, (x, y) => relu(x, y, work.n));
        case 'reduce_sum': {
          const [columns = 1, ...others] = [...work.shape].reverse();
          if (work.axis < others.length) return notOffered(work, 'sums only the last axis');
          return bind(limitCase, (x, sums) => sumRows(x, sums, limitCase.outputLength, columns));
        }
        default:
          return notOffered(work);
      }
    },
  };
}

/** Runs with the addresses of the inputs and of an output; large arrays do not move. */
function bind(limitCase: LimitCase, run: (...addresses: readonly bigint[]) => void): Prepared {
  const output = new Float32Array(limitCase.outputLength);
  const arrays = [...limitCase.inputs.map(materialize), output];
  return {
    // Taken here, so that the arrays stay.
    run: () => run(...arrays.map((array) => koffi.address(array))),
    entries: async (indices) => pick(output, limitCase, indices),
  };
}

function compile(): LibraryHandle {
  const folder = mkdtempSync(join(tmpdir(), 'concord-bench-'));
  try {
    const file = join(folder, 'loops.so');
    const { status, error, stderr } = spawnSync('cc', [...FLAGS, '-o', file, SOURCE], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the C loops cannot be compiled: ${error?.message ?? stderr}`);
    return koffi.load(file);
  } finally {
    // A loaded library stays when its file goes.
    rmSync(folder, { recursive: true, force: true });
  }
}
