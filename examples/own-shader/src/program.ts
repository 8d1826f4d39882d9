import { upload } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { defineProgram, deviceFields, EXIT, neighbours, type Program, writeResult } from '@concord/example-command';
import { argmaxRows } from './argmax-rows.ts';

// For each of some query vectors, the most similar of many others. The products are an op of the contract; the index of
// the largest is not: a shader of this example finds it, on the same memory, without a wait.
const QUERIES = 100;
const VECTORS = 1000;
const DIMENSIONS = 64;

/** Finds the nearest vector of each query. */
export const runProgram: Program = defineProgram({
  name: 'own-shader',
  description: 'Nearest vectors by a product of the contract and a shader of this example, on WebGPU.',
  examples: ['own-shader', 'own-shader --json'],
  exitCodes: { failed: 'a query did not find its vector, or the device failed', usage: 'wrong arguments' },
  hasBackendOption: false,
  run: async (_, { json }, { stdout, signal }) => {
    const backend = new WebGpuBackend();
    try {
      await backend.init();
      const { queries, vectors, answerOf } = neighbours(QUERIES, VECTORS, DIMENSIONS);
      const a = upload(backend, queries);
      const b = upload(backend, vectors);
      const scores = backend.alloc(4 * QUERIES * VECTORS);
      const best = backend.alloc(4 * QUERIES);
      const argmax = await argmaxRows(backend, QUERIES, VECTORS);

      backend.gemm({ m: QUERIES, n: VECTORS, k: DIMENSIONS, a, b, c: scores, transB: 'T' });
      argmax(scores, best);
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
