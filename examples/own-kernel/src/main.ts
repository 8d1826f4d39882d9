import { upload } from '@concord/backend-core';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { argmaxRows, GROUP } from './argmax-rows.ts';

// Nearest neighbours: for each of some query vectors, the most similar of many others. The products are an op of the
// contract; the index of the largest is not, so a kernel of our own finds it, on the same memory, without a wait.
const QUERIES = 100;
const VECTORS = 1000;
const DIMENSIONS = 64;

const backend = new LevelZeroBackend();
await backend.init();
const argmax = backend.native.load(argmaxRows());

const vectors = Float32Array.from({ length: VECTORS * DIMENSIONS }, () => Math.random() - 0.5);
// Query i is vector 7 i with some noise, so the answers are known.
const queries = Float32Array.from({ length: QUERIES * DIMENSIONS }, (_, at) => {
  const query = Math.floor(at / DIMENSIONS);
  return (vectors[7 * query * DIMENSIONS + (at % DIMENSIONS)] ?? 0) + 0.05 * (Math.random() - 0.5);
});

const a = upload(backend, queries);
const b = upload(backend, vectors);
const scores = backend.alloc(4 * QUERIES * VECTORS);
const best = backend.alloc(4 * QUERIES);

backend.gemm({ m: QUERIES, n: VECTORS, k: DIMENSIONS, a, b, c: scores, transB: 'T' });
const args = [scores, best, { u32: QUERIES }, { u32: VECTORS }];
backend.native.launch(argmax, 'argmax', args, [Math.ceil(QUERIES / GROUP), 1, 1]);
const found = new Uint32Array(QUERIES);
await backend.copyDtoh(found, best);

const right = found.filter((vector, query) => vector === 7 * query).length;
console.log(`${right} of ${QUERIES} queries found their vector, on ${backend.device.name}`);
await backend.dispose();
if (right !== QUERIES) process.exitCode = 1;
