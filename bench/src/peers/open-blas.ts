import { availableParallelism } from 'node:os';
import koffi, { type LibraryHandle } from 'koffi';
import { type Peer, pick, plainProduct } from '../peer.ts';

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
