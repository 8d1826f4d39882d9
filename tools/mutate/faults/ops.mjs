// @ts-check

/** Faults of the functions of tensors, planted by somebody who had not read their tests.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const opsFaults = [
  {
    file: 'packages/ops/src/weights/fill-tensor.ts',
    find: '    place(bytes, done / BYTES_OF[entry.dtype], entry.dtype, to, staging);',
    replace: '    place(bytes, done / BYTES_OF[to.dtype], entry.dtype, to, staging);',
    breaks:
      'A tensor larger than one 4 MiB piece that is loaded with another dtype (f32 as f16) has its second and later pieces at wrong places, or loading fails out of bounds.',
  },
  {
    file: 'packages/ops/src/weights/response-source.ts',
    find: 'skipped + Math.min(rest.length - skipped, to - at - skipped));',
    replace: 'skipped + Math.min(rest.length - skipped, to - at));',
    breaks:
      'Loading some names of a file from a URL, where a chunk holds skipped bytes before the wanted ones, gives too many bytes: out of bounds errors or the next tensor shifted.',
  },
  {
    file: 'packages/ops/src/weights/load-safetensors.ts',
    find: "    if (own.name.replace(/[?#].*$/, '').endsWith('.json')) {",
    replace: "    if (own.name.endsWith('.json')) {",
    breaks:
      'The index of a sharded model at an address with a query (…index.json?download=true) is taken for a safetensors file and refused.',
  },
  {
    file: 'packages/ops/src/weights/header.ts',
    find: '    .sort((a, b) => a.start - b.start || a.bytes - b.bytes);',
    replace: '    .sort((a, b) => a.start - b.start);',
    breaks:
      'A valid file whose header names a tensor before an empty one that starts at the same byte is refused as damaged.',
  },
  {
    file: 'packages/ops/src/weights/load-safetensors.ts',
    find: '    tensors.set(entry.name, result);\n    await fillTensor(open, entry, result, staging, arrived);',
    replace: '    await fillTensor(open, entry, result, staging, arrived);\n    tensors.set(entry.name, result);',
    breaks: "When a load fails or is aborted in the middle of a tensor, that tensor's device memory is leaked.",
  },
  {
    file: 'packages/ops/src/products/product.ts',
    find: '  return m === 1 ? Math.max(c.row, n) : c.row;',
    replace: '  return c.row;',
    breaks:
      'A product with one row into an out (or result) whose row stride is below n, such as a permuted view, is refused by the backend with an ldc error.',
  },
  {
    file: 'packages/ops/src/products/product.ts',
    find: '    const joins = last?.strides.every((stride, index) => stride === (strides[index] as number) * length) ?? false;',
    replace:
      '    const joins =\n      last?.strides.slice(0, 3).every((stride, index) => stride === (strides[index] as number) * length) ?? false;',
    breaks: 'Linear over two batch axes with a residual that broadcasts along one of them adds the wrong residual.',
  },
  {
    file: 'packages/ops/src/products/linear.ts',
    find: '  return { ptr, batch, row: 0, column: strides[0] ?? 1 };',
    replace: '  return { ptr, batch, row: 0, column: 1 };',
    breaks: 'Linear with a bias that is a strided view (a column of a matrix) adds wrong numbers.',
  },
  {
    file: 'packages/ops/src/convolution/window.ts',
    find: '  return ceilMode && (places - 1) * stride[axis] >= length + padding[axis] ? places - 1 : places;',
    replace: '  return ceilMode && (places - 1) * stride[axis] > length + padding[axis] ? places - 1 : places;',
    breaks:
      'Pooling with ceilMode gives one place too many where a window would begin exactly at the end of the image: -Infinity or NaN there.',
  },
  {
    file: 'packages/ops/src/pooling/resize.ts',
    find: 'divisor: Math.max(1, to - 1), last',
    replace: 'divisor: to - 1, last',
    breaks: 'Resize with alignCorners to a size of 1 divides by zero: NaN instead of the first element.',
  },
  {
    file: 'packages/ops/src/shaping/concat.ts',
    find: '  const fits = (out: Tensor): boolean => tensors.every(({ storage }) => storage !== out.storage);',
    replace: '  const fits = (out: Tensor): boolean => !tensors.includes(out);',
    breaks:
      'Concat of views into an out on the same storage overwrites parts that are still to be read, or is refused as overlapping.',
  },
  {
    file: 'packages/ops/src/shaping/remap.ts',
    find: "  const key = `${type} ${mode} ${groups.map(({ changes }) => Number(changes)).join('')}`;",
    replace: '  const key = `${type} ${mode} ${groups.length}`;',
    breaks:
      'Padding (or flipping) the last axis of a matrix after having padded the first one of another reuses its kernel: an error about parameters or wrong elements.',
  },
  {
    file: 'packages/ops/src/attention/attention.ts',
    find: '    ...(window === undefined ? {} : { window }),',
    replace: '    ...(window === undefined || !causal ? {} : { window }),',
    breaks: 'Attention with a window but without causal sees every key: the window is ignored.',
  },
  {
    file: 'packages/ops/src/attention/rope.ts',
    find: 'interleaved ? 2 * dense : dense] };',
    replace: 'interleaved ? 2 : dense] };',
    breaks: 'Interleaved rope of a view whose last axis is not dense (or into such an out) turns the wrong elements.',
  },
  {
    file: 'packages/ops/src/losses/cross-entropy.ts',
    find: '    `loss ${type} ${hasIgnored}`,',
    replace: '    `loss ${type}`,',
    breaks:
      'CrossEntropy with ignoreIndex after a call without (or the other way round) in one program fails with a missing or unknown parameter.',
  },
  {
    file: 'packages/ops/src/create/arange.ts',
    find: '  const last = start + Math.max(0, count - 1) * step;',
    replace: '  const last = start + count * step;',
    breaks: 'Arange up to the greatest number of its integer type, such as u8 from 0 to before 256, is refused.',
  },
  {
    file: 'packages/ops/src/indexing/gather.ts',
    find: 'strides: [0, list.strides[0] as number, 0] },',
    replace: 'strides: [0, 1, 0] },',
    breaks:
      'Gather and embedding with indices that are a strided view (one column of a table of tokens) read the wrong rows.',
  },
  {
    file: 'packages/ops/src/indexing/top-k.ts',
    find: '    const rows = columns === 0 ? 0 : input.size / columns;',
    replace: '    const rows = input.size / columns;',
    breaks: 'TopK with k = 0 along an axis of size 0 fails instead of giving empty tensors.',
  },
  {
    file: 'packages/ops/src/quantized/dequantize.ts',
    find: '    JSON.stringify([inputs, params, bits]),',
    replace: '    JSON.stringify([inputs, params]),',
    breaks:
      'Dequantizing 4-bit numbers after 8-bit ones of the same types (or the other way round) uses the other kernel: wrong numbers.',
  },
  {
    file: 'packages/ops/src/weights/source.ts',
    find: '    return memorySource(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));',
    replace: '    return memorySource(new Uint8Array(source.buffer));',
    breaks:
      "Safetensors bytes that are a part of a larger buffer (a Node Buffer, a subarray) are read from the buffer's start: refused or wrong.",
  },
  {
    file: 'packages/ops/src/weights/save-safetensors.ts',
    find: '    await rm(unfinished, { force: true });\n    throw error;',
    replace: '    throw error;',
    breaks: 'A save that fails or is aborted leaves its unfinished file in the folder.',
  },
  {
    file: 'packages/ops/src/weights/repeated-key.ts',
    find: '/"(?:[^"\\\\]|\\\\.)*"|[{}[\\]:]/g',
    replace: '/"[^"]*"|[{}[\\]:]/g',
    breaks:
      'A file whose metadata holds an escaped quote fails to load with a syntax error, or is refused for a key that it does not have twice.',
  },
  {
    file: 'packages/ops/src/weights/file-source.ts',
    find: 'file.read(buffer, 0, Math.min(buffer.length, to - at), at);',
    replace: 'file.read(buffer, 0, buffer.length, at);',
    breaks:
      'A tensor of more than 1 MiB that is no multiple of it is read together with bytes of the next one: out of bounds errors or overwritten neighbours.',
  },
  {
    file: 'packages/ops/src/convolution/conv2d.ts',
    find: '    out.dtype === dtype && out.isDense && operands.every(({ storage }) => storage !== out.storage);',
    replace: '    out.dtype === dtype && out.isDense && [x, w].every(({ storage }) => storage !== out.storage);',
    breaks: 'Conv2d whose out is its own residual is refused for an overlap, or adds what it has already overwritten.',
  },
  {
    file: 'packages/ops/src/norms/layer-norm.ts',
    find: '  return kernels.of(`${op} ${hasWeight} ${hasBias} ${activation}`, () => {',
    replace: '  return kernels.of(`${hasWeight} ${hasBias} ${activation}`, () => {',
    breaks: 'RmsNorm after a layerNorm in the same program computes layerNorm.',
  },
  {
    file: 'packages/ops/src/pooling/pool.ts',
    find: '      const isGreatest = k.and(isInside, ',
    replace: '      const isGreatest = k.and(k.or(isInside, k.not(isInside)), ',
    breaks: 'The place of the greatest element of a window of -Infinity lies in the padding.',
  },
  {
    file: 'packages/ops/src/convolution/conv3d.ts',
    find: 'ofPlane * inDepth.dilation[0]',
    replace: 'ofPlane * inDepth.stride[0]',
    breaks: 'A filter of volumes takes planes as far apart as its places are.',
  },
  {
    file: 'packages/ops/src/random/dropout.ts',
    find: '    const isLine = x.isDense && result.isDense;',
    replace: '    const isLine = x.isDense;',
    breaks: 'Dropout of a dense tensor into an out that is a view with gaps writes to the wrong places.',
  },
  {
    file: 'packages/ops/src/tensor/scope.ts',
    find: 'scopes.push(tensors);',
    replace: 'scopes.push([]);',
    breaks: 'A recording that is disposed keeps the tensors that were made in it.',
  },
  {
    file: 'packages/ops/src/indexing/take-along-axis.ts',
    find: '  return kernels.of(`${type} ${from} ${rank} ${axis}`, () => {',
    replace: '  return kernels.of(`${type} ${from} ${rank}`, () => {',
    breaks: "TakeAlongAxis along another axis than in the first call of that rank picks along the first call's axis.",
  },
  {
    file: 'packages/ops/src/elementwise/cast.ts',
    find: "  if (dtype === 'i8' && from === 'u32') return k.toI32(k.min(x as Value<'u32'>, 127));",
    replace: '',
    breaks: 'Casting u32 numbers from 2^31 on to i8 gives -128 instead of 127.',
  },
];
