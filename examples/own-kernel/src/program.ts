import { upload } from '@concord/backend-core';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { defineProgram, deviceFields, EXIT, neighbours, type Program, writeResult } from '@concord/example-command';
import { argmaxRows, GROUP } from './argmax-rows.ts';

// For each of some query vectors, the most similar of many others. The products are an op of the contract; the index of
// the largest is not: a kernel of this example finds it, on the same memory, without a wait.
const QUERIES = 100;
const VECTORS = 1000;
const DIMENSIONS = 64;

/** Finds the nearest vector of each query. */
export const runProgram: Program = defineProgram({
  name: 'own-kernel',
  description: 'Nearest vectors by a product of the contract and a kernel of this example, on Level Zero.',
  examples: ['own-kernel', 'own-kernel --json'],
  exitCodes: { failed: 'a query did not find its vector, or the device failed', usage: 'wrong arguments' },
  hasBackendOption: false,
  run: async (_, { json }, { stdout, signal }) => {
    const backend = new LevelZeroBackend();
    try {
      await backend.init();
      const { queries, vectors, answerOf } = neighbours(QUERIES, VECTORS, DIMENSIONS);
      const a = upload(backend, queries);
      const b = upload(backend, vectors);
      const scores = backend.alloc(4 * QUERIES * VECTORS);
      const best = backend.alloc(4 * QUERIES);
      const argmax = backend.native.load(argmaxRows());

      backend.gemm({ m: QUERIES, n: VECTORS, k: DIMENSIONS, a, b, c: scores, transB: 'T' });
      const args = [scores, best, { u32: QUERIES }, { u32: VECTORS }];
      backend.native.launch(argmax, 'argmax', args, [Math.ceil(QUERIES / GROUP), 1, 1]);
      const found = new Uint32Array(QUERIES);
      await backend.copyDtoh(found, best, { signal });

      const right = found.filter((vector, query) => vector === answerOf(query)).length;
      const result = { queries: QUERIES, right, ...deviceFields(backend) };
      writeResult(stdout, json, result, () => {
        return `${right} of ${QUERIES} queries found their vector, on ${backend.device.name}`;
      });
      return right === QUERIES ? EXIT.ok : EXIT.failed;
    } finally {
      await backend.dispose();
    }
  },
});
