// @ts-check

const clientBufferPool = 'packages/backend-webgpu/src/client/buffer-pool.ts';
const clientBindGroupCache = 'packages/backend-webgpu/src/client/bind-group-cache.ts';
const clientUniformRing = 'packages/backend-webgpu/src/client/rings.ts';
const clientSlabs = 'packages/backend-webgpu/src/client/slabs.ts';
const clientUploadRing = 'packages/backend-webgpu/src/client/rings.ts';
const clientReadback = 'packages/backend-webgpu/src/client/readback.ts';

/** Faults of the WebGPU backend's memory: pools, staging, uniforms, what is bound.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const webgpuMemoryFaults = [
  {
    file: clientSlabs,
    find: 'const start = slab.free.pop() as number;',
    replace: 'const start = slab.free.at(-1) as number;',
    breaks: 'Small allocations lie in one another.',
  },
  {
    file: clientSlabs,
    find: 'if (slab.free.length === 0) open.delete(slab);',
    replace: 'open.delete(slab);',
    breaks: 'Each small allocation takes a buffer.',
  },
  {
    file: clientSlabs,
    find: 'this.#give(slab.gpu);',
    replace: '',
    breaks: 'Memory of small allocations never comes back.',
  },
  {
    file: clientUploadRing,
    find: 'this.#used += bytes.byteLength;',
    replace: '',
    breaks: 'Of the small uploads of a batch all places get the last.',
  },
  {
    file: clientBufferPool,
    find: 'if (home !== undefined) this.leave(home);',
    replace: 'if (home !== undefined && home.slab === undefined) this.leave(home);',
    breaks: 'Memory of small allocations is never used again.',
  },
  {
    file: clientBufferPool,
    find: 'if (this.#sizeOf(gpu) > this.#options.maxPooledBytes / 2) this.#condemn(gpu);',
    replace: 'if (this.#sizeOf(gpu) > this.#options.maxPooledBytes / 2) gpu.destroy();',
    breaks: 'A large buffer that is freed after an op that was not submitted yet is destroyed under it.',
  },
  {
    file: clientBufferPool,
    find: `        this.#pooledBytes -= size;
        this.#condemn(buffer);`,
    replace: `        this.#pooledBytes -= size;
        buffer.destroy();`,
    breaks: 'A pooled buffer that is given up is destroyed before the commands that use it are submitted.',
  },
  {
    file: clientBufferPool,
    find: `    this.#condemned = [];
    this.#leavingBytes = 0;`,
    replace: '    this.#leavingBytes = 0;',
    breaks: 'The counters of memory fall below zero, as buffers that are gone are counted again with each submit.',
  },
  {
    file: clientBufferPool,
    find: `    this.#condemned = [];
    this.#leavingBytes = 0;`,
    replace: '    this.#condemned = [];',
    breaks: 'What left the device counts as leaving for ever, and each release submits.',
  },
  {
    file: clientBufferPool,
    find: 'id: ++lastId',
    replace: 'id: lastId',
    breaks: 'Two allocations have one identity: freeing one frees the other.',
  },
  {
    file: clientBufferPool,
    find: 'Math.max(SMALLEST_CLASS, Math.ceil(bytes / step) * step)',
    replace: 'Math.max(SMALLEST_CLASS, Math.floor(bytes / step) * step)',
    breaks: 'A buffer is smaller than what was asked for.',
  },
  {
    file: clientBufferPool,
    find: 'else list.push(gpu);',
    replace: 'else list.push(gpu, gpu);',
    breaks: 'A freed buffer is handed out twice: two allocations share their memory.',
  },
  {
    file: clientBufferPool,
    find: '    if (pooled !== undefined) this.#pooledBytes -= size;',
    replace: '',
    breaks: 'Pooled bytes are counted although they are in use again.',
  },
  {
    file: clientBufferPool,
    find: 'if (error === undefined) return;',
    replace: "if (error === undefined || error.filter === 'out-of-memory') return;",
    breaks: 'A device that is out of memory is not noticed: ops on a buffer that is none seem to work.',
  },
  {
    file: clientBufferPool,
    find: '    onCheck(check());',
    replace: '    void check();',
    breaks: 'A wait ends before it is known whether an allocation was refused.',
  },
  {
    file: clientBufferPool,
    find: 'if (this.#pooledBytes > this.#options.maxPooledBytes) this.trim(this.#options.maxPooledBytes / 2);',
    replace: '',
    breaks: 'More memory is kept for reuse than the option allows.',
  },
  {
    file: clientBindGroupCache,
    find: 'key.push(this.#idOf(gpu), start + byteOffset, byteLength);',
    replace: 'key.push(this.#idOf(gpu), byteLength);',
    breaks: 'Two calls on one buffer at different offsets work on the same place.',
  },
  {
    file: clientBindGroupCache,
    find: 'key.push(this.#idOf(gpu), start + byteOffset, byteLength);',
    replace: 'key.push(this.#idOf(gpu), start + byteOffset);',
    breaks: 'Two calls at the same place with different lengths reach equally far.',
  },
  {
    file: clientBindGroupCache,
    find: 'key.push(this.#idOf(gpu), isWhole ? start : start + span.byteOffset);',
    replace: 'key.push(this.#idOf(gpu), start);',
    breaks: 'A planned call at another offset works on the place of the call before.',
  },
  {
    file: clientBindGroupCache,
    find: '    key.push(id);',
    replace: '    key.push(0);',
    breaks: 'Different plans on the same operands share what they bind.',
  },
  {
    file: clientBindGroupCache,
    find: 'key.push(layout.id);',
    replace: 'key.push(0);',
    breaks: 'Kernels with other accesses share what they bind.',
  },
  {
    file: clientBindGroupCache,
    find: '      id = ++this.#buffers;',
    replace: '      id = this.#buffers;',
    breaks: 'Calls on different buffers work on the same one.',
  },
  {
    file: clientBindGroupCache,
    find: '      onCheck(made.caught);',
    replace: '',
    breaks: 'A binding that the device refuses is not reported.',
  },
  {
    file: clientUniformRing,
    find: '    this.#offsets.clear();',
    replace: '',
    breaks: "A call that is repeated after a submit runs with another call's uniforms.",
  },
  {
    file: clientUniformRing,
    find: '    this.#used += this.#stride;',
    replace: '    this.#used += this.#stride / 2;',
    breaks: 'Uniforms of a batch overlap.',
  },
  {
    file: clientUniformRing,
    find: 'this.#queue.writeBuffer(this.gpu, 0, this.#words, 0, this.#used / 4);',
    replace: 'this.#queue.writeBuffer(this.gpu, 0, this.#words, 0, (this.#used - this.#stride) / 4);',
    breaks: 'The last uniforms of a batch are not sent.',
  },
  {
    file: clientReadback,
    find: 'const size = Math.ceil((lead + src.byteLength) / 4) * 4;',
    replace: 'const size = Math.ceil(src.byteLength / 4) * 4;',
    breaks: 'A read from an offset that is no multiple of 4 lacks its last bytes, or is refused.',
  },
  {
    file: clientReadback,
    find: 'staging.getMappedRange(0, size), lead, src.byteLength)',
    replace: 'staging.getMappedRange(0, size), 0, src.byteLength)',
    breaks: 'A read from an offset that is no multiple of 4 is shifted.',
  },
  {
    file: clientReadback,
    find: `    this.#stream.flush();
    try {`,
    replace: `    this.#stream.flush();
    this.#keep(staging);
    try {`,
    breaks: 'Staging memory is given to the next read while this one is in flight.',
  },
  {
    file: clientReadback,
    find: 'this.#kept.get(size)?.pop();',
    replace: 'this.#kept.get(size)?.at(-1);',
    breaks: 'Two reads at once share staging memory.',
  },
  {
    file: clientReadback,
    find: '      staging.unmap();',
    replace: '',
    breaks: 'Staging memory stays mapped: the next read is refused.',
  },
  {
    file: clientReadback,
    find: `    this.#stream.flush();
    try {`,
    replace: '    try {',
    breaks: 'A read maps its memory before the copy is submitted.',
  },
  {
    file: clientReadback,
    find: '    this.#report(caught, bytes);',
    replace: '    void caught;',
    breaks: 'A read for which there is no staging memory fails without its reason.',
  },
];
