// @ts-check
// Run with --expose-gc: forgets tensors and reports their state, as JSON on stdout.
import { CpuBackend } from '@concord/backend-cpu';
import { memory, reshape, tidy, zeros } from '@concord/ops';
import { setTimeout } from 'node:timers/promises';

const backend = new CpuBackend();
await backend.init();
const kept = zeros(backend, [5]);
forget();
const before = { ...memory(), allocations: backend.memory().liveAllocations };
const { gc } = globalThis;
if (gc === undefined) throw new Error('run with --expose-gc');
// Callbacks of what was collected come in their own tasks.
for (let tries = 0; tries < 1000 && memory().tensors > 1; tries++) {
  gc();
  await setTimeout(1);
}
const after = { ...memory(), allocations: backend.memory().liveAllocations };
console.log(JSON.stringify({ before, after, kept: Array.from(await kept.toArray()) }));
kept.dispose();
await backend.dispose();

/** Ten tensors, each with a view that shares its storage, and two that are disposed, one of them within `tidy`. */
function forget() {
  for (let i = 0; i < 10; i++) reshape(zeros(backend, [2, 3]), [6]);
  zeros(backend, [7]).dispose();
  tidy(() => {
    const x = zeros(backend, [8]);
    x.dispose();
    return x;
  });
}
