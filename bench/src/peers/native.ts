import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { materialize } from '@concord/cli/bench';
import koffi, { type LibraryHandle } from 'koffi';
import type { LimitCase } from '../limits/cases.ts';
import { notOffered, type Peer, pick, plainProduct, type Prepared } from '../peer.ts';

const LIBRARIES = ['libopenblas.so.0', 'libopenblas.so'];
/** CBLAS's names of its constants. */
const ROW_MAJOR = 101;
const NO_TRANS = 111;

/**
 * OpenBLAS on all cores, called from Node on the arrays where they are.
 *
 * @throws {Error} where the library is not installed
 */
export function openBlas(): Peer {
  const library = load();
  const sgemm = library.func(
    'void cblas_sgemm(int order, int transA, int transB, int m, int n, int k, float alpha, uintptr_t a, int lda, uintptr_t b, int ldb, float beta, uintptr_t c, int ldc)',
  );
  const threads = availableParallelism();
  library.func('void openblas_set_num_threads(int threads)')(threads);
  const config = library.func('const char *openblas_get_config()')() as string;
  return {
    name: 'openblas',
    role: 'limit',
    version: `${config.trim()}, ${threads} threads`,
    async prepare(limitCase) {
      const { m, n, k, a, b } = plainProduct(limitCase);
      const c = new Float32Array(m * n);
      return {
        // Addresses, as koffi would copy what is written back into a typed array. Large arrays do not move; taken here, so
        // that the arrays stay.
        run: () => {
          const [atA, atB, atC] = [a, b, c].map((array) => koffi.address(array));
          sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, atA, k, atB, n, 0, atC, n);
        },
        entries: async (indices) => pick(c, limitCase, indices),
      };
    },
  };
}

function load(): LibraryHandle {
  const reasons: string[] = [];
  for (const name of LIBRARIES) {
    try {
      return koffi.load(name);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`OpenBLAS is not installed (Debian: apt-get install libopenblas0): ${reasons.join('; ')}`);
}

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
