// @ts-check

const clientCommandStream = 'packages/backend-webgpu/src/client/command-stream.ts';
const clientOpenEncoder = 'packages/backend-webgpu/src/client/sequence.ts';
const clientSequence = 'packages/backend-webgpu/src/client/sequence.ts';
const clientErrorScopes = 'packages/backend-webgpu/src/client/errors.ts';
const clientWebgpuClient = 'packages/backend-webgpu/src/client/webgpu-client.ts';
const clientRefusals = 'packages/backend-webgpu/src/client/errors.ts';
const clientPipelineCache = 'packages/backend-webgpu/src/client/pipeline-cache.ts';

/** Faults of the order of commands of the WebGPU backend, and of its errors.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const webgpuStreamFaults = [
  {
    file: clientCommandStream,
    find: 'while (this.#scratch.length > held) this.#options.pool.release(this.#scratch.pop() as StorageBuffer);',
    replace: 'this.#scratch.length = held;',
    breaks: 'Scratch memory of each op is lost: the memory of a program grows with each call.',
  },
  {
    file: clientCommandStream,
    find: '(groups[index] ??=',
    replace: '(groups[0] ??=',
    breaks: 'The second launch of an op gets the operands of the first.',
  },
  {
    file: clientCommandStream,
    find: 'this.#dispatch(callWords(step, plan.floats, params, memory, maxBindingBytes), step',
    replace: 'this.#dispatch(step.words, step',
    breaks: 'Parameters of a call are those of the call before.',
  },
  {
    file: clientCommandStream,
    find: `    // \`writeBuffer\` overtakes what is recorded but not submitted.
    this.flush();`,
    replace: '',
    breaks: 'A write overtakes the ops that were called before it.',
  },
  {
    file: clientCommandStream,
    find: `  encode(op: string, callback: (encoder: GPUCommandEncoder) => void): void {
    this.flush();`,
    replace: '  encode(op: string, callback: (encoder: GPUCommandEncoder) => void): void {',
    breaks: "The caller's commands run before the ops that were called before them.",
  },
  {
    file: clientCommandStream,
    find: '    this.#isEncoding = true;',
    replace: '    this.#isEncoding = false;',
    breaks: 'An op that is called within the callback of encode runs at another place than it was called at.',
  },
  {
    file: clientCommandStream,
    find: '    this.#check(caught, op);',
    replace: '    void caught;',
    breaks: "A refused submit of the caller's own commands is not reported.",
  },
  {
    file: clientCommandStream,
    find: '      this.#check(caught, ops, this.#judging);',
    replace: '      void caught;',
    breaks: 'A refused submit is not reported: results are garbage, and waits resolve.',
  },
  {
    file: clientCommandStream,
    find: `        this.#uniforms.upload();
        this.#uploads.upload();
        context.device.queue.submit([encoder.finish()]);`,
    replace: `        this.#uploads.upload();
        context.device.queue.submit([encoder.finish()]);
        this.#uniforms.upload();`,
    breaks: 'Kernels run with the uniforms of the batch before.',
  },
  {
    file: clientCommandStream,
    find: `        this.#uploads.upload();
        context.device.queue.submit([encoder.finish()]);`,
    replace: `        context.device.queue.submit([encoder.finish()]);
        this.#uploads.upload();`,
    breaks: 'Small uploads arrive a batch late.',
  },
  {
    file: clientCommandStream,
    find: '      if (slab === undefined) continue;',
    replace: '      continue;',
    breaks: 'An op on two small allocations of a slab fails: WebGPU refuses a buffer that is read and written.',
  },
  {
    file: clientCommandStream,
    find: '      this.#outsidePass(this.#op).copyBufferToBuffer(gpu, start, homeOf(buffer).gpu, 0, buffer.size);',
    replace: '',
    breaks: 'What a small allocation held is gone when an op writes into a part of it.',
  },
  {
    file: clientCommandStream,
    find: '    if (this.#uploads.isFull) this.#submitBatch();',
    replace: '',
    breaks: 'More than 64 kB of small uploads in a batch fail.',
  },
  {
    file: clientCommandStream,
    find: `    this.#assertNotEncoding();
    const encoder = this.#encoder;`,
    replace: `    this.#assertNotEncoding();
    this.#options.pool.destroyCondemned();
    const encoder = this.#encoder;`,
    breaks: 'Buffers are destroyed one submit too early.',
  },
  {
    file: clientCommandStream,
    find: `    this.#enough = FIRST_COMMANDS;
    this.#options.pool.destroyCondemned();`,
    replace: '    this.#enough = FIRST_COMMANDS;',
    breaks: 'Freed memory never goes back to the device.',
  },
  {
    file: clientCommandStream,
    find: '    if (judging !== undefined) this.#watchJudgement(judging);',
    replace: '',
    breaks: 'A kernel that the device refuses is not reported.',
  },
  {
    file: clientCommandStream,
    find: '    if (this.#judging !== judging) this.#beginBatch(judging);',
    replace: '',
    breaks: 'A kernel that the device refuses fails the ops that are submitted with it.',
  },
  {
    file: clientOpenEncoder,
    find: 'if (this.#group !== group || this.#offset !== offset) {',
    replace: 'if (this.#group !== group) {',
    breaks: 'A second call on the same operands runs with the uniforms of the first.',
  },
  {
    file: clientOpenEncoder,
    find: '    this.#group = undefined;',
    replace: '',
    breaks: 'After a copy an op runs without its operands.',
  },
  {
    file: clientCommandStream,
    find: '    if (this.#judging !== undefined) this.#beginBatch();',
    replace: '',
    breaks: 'A copy after a kernel that the device refuses is dropped with it.',
  },
  {
    file: clientOpenEncoder,
    find: `  outsidePass(): GPUCommandEncoder {
    this.#endPass();`,
    replace: '  outsidePass(): GPUCommandEncoder {',
    breaks: 'A copy is recorded while a pass is open: the device refuses the batch.',
  },
  {
    file: clientSequence,
    find: ' || (this.#moves !== pool.moves && this.#hasMoved())',
    replace: '',
    breaks: 'A replay works on memory that has moved since.',
  },
  {
    file: clientSequence,
    find: 'this.#options.retire(this.#uniforms)',
    replace: 'this.#uniforms.destroy()',
    breaks: 'A recording that is disposed right after a replay fails the batch.',
  },
  {
    file: clientSequence,
    find: 'offset / 4);',
    replace: '0);',
    breaks: 'All launches of a replay have the numbers of the last one.',
  },
  {
    file: clientSequence,
    find: '    for (const buffer of this.#scratch) this.#options.pool.release(buffer);',
    replace: '',
    breaks: 'Scratch memory of recordings never comes back.',
  },
  {
    file: clientCommandStream,
    find: 'if (error === undefined || (await isRefused(judging))) return;',
    replace: 'if (error === undefined || judging !== undefined) return;',
    breaks: 'What fails in the first batch of a new kernel is not reported.',
  },
  {
    file: clientCommandStream,
    find: 'annotate(error as BackendError, { op })',
    replace: 'annotate(error as BackendError, {})',
    breaks: 'The error of a kernel that the device refuses does not name the op.',
  },
  {
    file: clientCommandStream,
    find: 'const next = Math.min(2 * this.#enough, MAX_COMMANDS);',
    replace: 'const next = 1000 * MAX_COMMANDS;',
    breaks: 'Launches are never submitted in batches: the device idles until a wait.',
  },
  {
    file: clientErrorScopes,
    find: 'results.find((result) => result !== undefined)',
    replace: 'results[0]',
    breaks: "All errors but the device's internal ones are swallowed.",
  },
  {
    file: clientErrorScopes,
    find: "filter === 'out-of-memory' ? 'OUT_OF_MEMORY' : 'DEVICE_ERROR'",
    replace: "filter === 'internal' ? 'OUT_OF_MEMORY' : 'DEVICE_ERROR'",
    breaks: 'A device that is out of memory is reported as broken.',
  },
  {
    file: clientWebgpuClient,
    find: `    }
    await this.#settled();
    if (this.failure`,
    replace: `    }
    if (this.failure`,
    breaks: 'A read resolves although the work before it failed.',
  },
  {
    file: clientWebgpuClient,
    find: `    await this.idle();
    await this.#settled();`,
    replace: '    await this.idle();',
    breaks: 'A call of synchronize resolves although the work before it failed.',
  },
  {
    file: clientWebgpuClient,
    find: '    await this.idle();',
    replace: '',
    breaks: 'A call of synchronize does not wait for the device.',
  },
  {
    file: clientWebgpuClient,
    find: '    this.failure ??= error;',
    replace: '    this.failure = error;',
    breaks: 'Waits report the last failure instead of the first.',
  },
  {
    file: clientWebgpuClient,
    find: `    this.#allocations.delete(id);
    this.#pool.release(buffer);`,
    replace: '    this.#pool.release(buffer);',
    breaks: 'Memory that is freed twice is given to two allocations.',
  },
  {
    file: clientWebgpuClient,
    find: '    for (const buffer of this.#allocations.values()) this.#pool.release(buffer);',
    replace: '',
    breaks: 'Memory that was not freed outlives its backend.',
  },
  {
    file: clientWebgpuClient,
    find: '    this.#pool.clear();',
    replace: '',
    breaks: 'Pooled memory outlives its backend.',
  },
  {
    file: clientWebgpuClient,
    find: `    this.#pool.clear();
    this.#shared.release();`,
    replace: '    this.#pool.clear();',
    breaks: 'The device stays open after the last backend was disposed.',
  },
  {
    file: clientRefusals,
    find: 'const first = this.#isNews ? this.#count - 1 : this.#count;',
    replace: 'const first = this.#count;',
    breaks: 'A kernel that was refused before a wait began is not reported.',
  },
  {
    file: clientRefusals,
    find: '      this.#isNews = false;',
    replace: '',
    breaks: 'Every wait after a refused kernel rejects.',
  },
  {
    file: clientPipelineCache,
    find: '`${access} ${minBytes}`',
    replace: '`${minBytes}`',
    breaks: 'Kernels that write share a layout with kernels that read.',
  },
  {
    file: clientPipelineCache,
    find: '        entry.refusal = refusal;',
    replace: '        void refusal;',
    breaks: 'A kernel that the device refused is tried again with each op.',
  },
  {
    file: clientPipelineCache,
    find: 'const error = (await caught) ?? (await creation.caught);',
    replace: 'const error = await caught;',
    breaks: 'A pipeline that the device refuses is taken for good.',
  },
  {
    file: clientPipelineCache,
    find: 'if (known !== undefined && known.refusal === undefined) return known.ready;',
    replace: 'if (known !== undefined) return known.ready;',
    breaks: 'A refused kernel stays refused, also for who compiles it again.',
  },
];
