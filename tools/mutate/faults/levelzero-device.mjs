// @ts-check

const deviceMemoryPool = 'packages/backend-levelzero/src/device/memory-pool.ts';
const deviceHostBlocks = 'packages/backend-levelzero/src/device/staging.ts';
const deviceStaging = 'packages/backend-levelzero/src/device/staging.ts';
const deviceSubmissions = 'packages/backend-levelzero/src/device/submissions.ts';
const deviceCommandStream = 'packages/backend-levelzero/src/device/command-stream.ts';

/** Faults of the Level Zero backend's memory, submits, staging and errors.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const levelZeroDeviceFaults = [
  {
    file: deviceMemoryPool,
    find: 'until: submissions.isRecording ? submissions.next : submissions.submitted',
    replace: 'until: submissions.submitted',
    breaks: 'Memory that recorded commands use is freed one submit too early.',
  },
  {
    file: deviceMemoryPool,
    find: 'until: submissions.isRecording ? submissions.next : submissions.submitted',
    replace: 'until: submissions.next',
    breaks: 'Memory that is freed while nothing is recorded waits for a submit that may never come.',
  },
  {
    file: deviceMemoryPool,
    find: 'const gone = this.#leaving.filter(({ until }) => until <= done);',
    replace: 'const gone = this.#leaving.filter(({ until }) => until <= done + 1);',
    breaks: 'Memory is freed while the last submit still uses it.',
  },
  {
    file: deviceMemoryPool,
    find: 'else list.push(block);',
    replace: 'else list.push(block, block);',
    breaks: 'A freed block is handed out twice: two allocations share their memory.',
  },
  {
    file: deviceMemoryPool,
    find: `        this.#pooledBytes -= size;
        this.#condemn(block);`,
    replace: `        this.#pooledBytes -= size;
        this.#freeNow(block);`,
    breaks: 'A pooled block that is given up is freed while work uses it.',
  },
  {
    file: deviceMemoryPool,
    find: `      this.#condemn(block);
      // Large`,
    replace: `      this.#freeNow(block);
      // Large`,
    breaks: 'A large block is freed while work uses it.',
  },
  {
    file: deviceMemoryPool,
    find: 'Math.max(SMALLEST_CLASS, Math.ceil(bytes / step) * step)',
    replace: 'Math.max(SMALLEST_CLASS, Math.floor(bytes / step) * step)',
    breaks: 'An allocation is smaller than what was asked for.',
  },
  {
    file: deviceMemoryPool,
    find: 'if (isOutOfMemory(result) && this.#makeRoom()) result',
    replace: 'if (isOutOfMemory(result) && size < 0) result',
    breaks: 'An allocation fails although pooled memory could make room for it.',
  },
  {
    file: deviceMemoryPool,
    find: '    for (const { block } of handedOut) this.#freeNow(block);',
    replace: '    void handedOut;',
    breaks: 'Memory that was not freed outlives its backend.',
  },
  {
    file: deviceMemoryPool,
    find: '    if (pooled !== undefined) this.#pooledBytes -= size;',
    replace: '',
    breaks: 'Pooled bytes are counted although they are in use again.',
  },
  {
    file: deviceMemoryPool,
    find: 'id: ++lastId',
    replace: 'id: lastId',
    breaks: 'Two allocations have one identity.',
  },
  {
    file: deviceHostBlocks,
    find: 'until <= done && block.bytes.byteLength === size',
    replace: 'block.bytes.byteLength === size',
    breaks: 'Staging memory is reused while a copy in flight reads it.',
  },
  {
    file: deviceHostBlocks,
    find: 'if (kept <= MAX_KEPT_BYTES || until > done) return true;',
    replace: 'if (kept <= MAX_KEPT_BYTES || until > done + 1e9) return true;',
    breaks: 'Staging memory beyond what is kept is freed while a copy reads it.',
  },
  {
    file: deviceStaging,
    find: 'this.#lastUse <= this.#submissions.completed',
    replace: 'this.#lastUse <= this.#submissions.submitted',
    breaks: 'The shared staging block is written again while a submit in flight copies from it.',
  },
  {
    file: deviceStaging,
    find: '      this.#blocks.giveBack(block, until);',
    replace: '      this.#blocks.giveBack(block, until - 1);',
    breaks: 'A staging block goes back one submit too early.',
  },
  {
    file: deviceStaging,
    find: '      if (this.#shared !== undefined) this.#blocks.giveBack(this.#shared, this.#lastUse);',
    replace: '      if (this.#shared !== undefined) this.#blocks.giveBack(this.#shared, 0);',
    breaks: 'A full shared block goes back while it is copied from.',
  },
  {
    file: deviceStaging,
    find: '    this.#lastUse = until;',
    replace: '',
    breaks: 'The shared block starts anew before what was staged is submitted.',
  },
  {
    file: deviceStaging,
    find: 'this.#used += Math.ceil(size / ALIGNMENT) * ALIGNMENT;',
    replace: 'this.#used += Math.floor(size / ALIGNMENT) * ALIGNMENT;',
    breaks: 'The next small write overlaps the one before in staging memory.',
  },
  {
    file: deviceSubmissions,
    find: '      if (result === RESULTS.NOT_READY) break;',
    replace: `      if (result === RESULTS.NOT_READY) {
        this.#recycle(oldest);
        continue;
      }`,
    breaks: 'Work that still runs counts as done.',
  },
  {
    file: deviceSubmissions,
    find: "        this.#fail(oldest, result, 'zeFenceQueryStatus');",
    replace: '',
    breaks: 'A failed fence is not reported.',
  },
  {
    file: deviceSubmissions,
    find: '      this.#onError(failure);',
    replace: '',
    breaks: 'A refused submit is not reported to later waits.',
  },
  {
    file: deviceSubmissions,
    find: 'sequence >= this.#refused.sequence',
    replace: 'sequence > this.#refused.sequence',
    breaks: 'A wait for a refused submit never ends.',
  },
  {
    file: deviceSubmissions,
    find: '    if (submission !== this.#awaited) this.#reuse(submission);',
    replace: '    this.#reuse(submission);',
    breaks: 'A fence is reset while a thread waits at it.',
  },
  {
    file: deviceSubmissions,
    find: 'else this.#fail(submission, result, call);',
    replace: 'else this.#settle();',
    breaks: 'A wait whose fence fails goes on as if it had not.',
  },
  {
    file: deviceSubmissions,
    find: `      api.zeFenceReset(submission.fence) === RESULTS.SUCCESS &&
      api.zeCommandListReset(submission.list) === RESULTS.SUCCESS;`,
    replace: '      api.zeFenceReset(submission.fence) === RESULTS.SUCCESS;',
    breaks: 'A reused list runs its old commands again.',
  },
  {
    file: deviceSubmissions,
    find: '      api.zeFenceReset(submission.fence) === RESULTS.SUCCESS &&',
    replace: '',
    breaks: 'A reused fence is signaled from before: waits do not wait.',
  },
  {
    file: deviceSubmissions,
    find: 'const done = this.#waiters.filter(({ sequence }) => sequence <= this.#completed);',
    replace: 'const done = this.#waiters.filter(({ sequence }) => sequence <= this.#completed + 1);',
    breaks: 'A wait ends one submit too early.',
  },
  {
    file: deviceSubmissions,
    find: '    submission.ops = ops;',
    replace: '',
    breaks: 'Errors of work do not name its ops.',
  },
  {
    file: deviceCommandStream,
    find: 'for (const memory of this.#scratch.splice(held)) this.#options.pool.release(memory);',
    replace: 'this.#scratch.splice(held);',
    breaks: 'Scratch memory of each op is lost: the memory of a program grows with each call.',
  },
  {
    file: deviceCommandStream,
    find: 'const result = device.api.zeCommandListAppendBarrier(list, null, 0, null);',
    replace: 'const result: number = RESULTS.SUCCESS;',
    breaks: 'Commands of one list may run before those they depend on have ended.',
  },
  {
    file: deviceCommandStream,
    find: 'addressOf(dst) + BigInt(done), this.#staging',
    replace: 'addressOf(dst), this.#staging',
    breaks: 'A write of more than 2 MiB puts all of its pieces at the start.',
  },
  {
    file: deviceCommandStream,
    find: `      this.#begin('copyHtod');
      this.#append(addressOf(dst) + BigInt(done), this.#staging.stage(chunk), chunk.byteLength);`,
    replace: `      const staged = this.#staging.stage(chunk);
      this.#begin('copyHtod');
      this.#append(addressOf(dst) + BigInt(done), staged, chunk.byteLength);`,
    breaks: 'What is staged for one list is copied by the next, when it may have been reused.',
  },
  {
    file: deviceCommandStream,
    find: `    if (result !== RESULTS.SUCCESS) {
      throw this.#options.device.error(result, \`zeCommandListAppendLaunchKernel`,
    replace: `    if (result === RESULTS.NOT_READY) {
      throw this.#options.device.error(result, \`zeCommandListAppendLaunchKernel`,
    breaks: 'A launch that the driver refuses is not reported.',
  },
  {
    file: deviceCommandStream,
    find: 'this.#patternAddress() + BigInt(byte);',
    replace: 'this.#patternAddress() + BigInt(byte === 0 ? 0 : byte - 1);',
    breaks: 'A fill writes the byte before the one that was asked for.',
  },
];
