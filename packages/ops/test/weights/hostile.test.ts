import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, expect, test } from 'vitest';
import { expectInvalid, expectRejection } from '../../../backend-core/test/expect-error.ts';
import { loadSafetensors, memory, type ResponseLike, tensor, writeSafetensors } from '../../src/index.ts';
import type { ByteSource } from '../../src/weights/byte-source.ts';
import { memorySource } from '../../src/weights/byte-source.ts';
import { PIECE_BYTES } from '../../src/weights/fill-tensor.ts';
import { urlSource } from '../../src/weights/response-source.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

/** A file of one tensor, `x`. */
async function fileOf(elements: number): Promise<Uint8Array> {
  using x = tensor(backend, new Float32Array(elements));
  return writeSafetensors({ x });
}

function responseOf(pieces: readonly unknown[], error?: Error): ResponseLike {
  const left = [...pieces];
  const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
    await Promise.resolve();
    if (left.length === 0 && error !== undefined) throw error;
    return left.length === 0 ? { done: true } : { done: false, value: left.shift() as Uint8Array };
  };
  const cancel = (): Promise<void> => (error === undefined ? Promise.resolve() : Promise.reject(error));
  return { ok: true, status: 200, url: 'http://a/x.safetensors', body: { getReader: () => ({ read, cancel }) } };
}

test('a name that is not there throws, with the nearest one; in asks', async () => {
  const weights = await loadSafetensors(backend, await fileOf(2));
  expect(() => weights['y1']).toThrow('has no tensor y1; it has x');
  expect(expectInvalid(() => weights['X']).message).toMatch(/did you mean x\?|it has x/);
  expect(['x' in weights, 'y' in weights, Object.keys(weights)]).toEqual([true, false, ['x']]);
  const { x } = weights;
  x?.dispose();
});

test.each([1, 2])('a file that ends where piece %i does is cut off, whatever it comes from', async (pieces) => {
  const whole = await fileOf((3 * PIECE_BYTES) / 4);
  const cut = whole.subarray(0, whole.length - (3 - pieces) * PIECE_BYTES);
  const before = memory();
  const detail = `safetensors: ends in x, ${pieces * PIECE_BYTES} of ${3 * PIECE_BYTES} bytes`;
  await expectRejection(loadSafetensors(backend, responseOf([cut])), 'INVALID_ARGUMENT', detail);
  const unsized: ByteSource = {
    name: 'unsized',
    open: async () => {
      const open = await memorySource(cut).open();
      return { ...open, size: undefined };
    },
  };
  await expectRejection(loadSafetensors(backend, unsized), 'INVALID_ARGUMENT', detail);
  await expectRejection(loadSafetensors(backend, cut), 'INVALID_ARGUMENT');
  expect(memory()).toEqual(before);
});

test('a connection that breaks off, a body that was read, and one of something else have coded errors', async () => {
  const file = await fileOf(8);
  const broken = responseOf([file.subarray(0, 30)], new TypeError('terminated'));
  const error = await expectRejection(loadSafetensors(backend, broken), 'INVALID_ARGUMENT');
  expect(error.message).toContain('http://a/x.safetensors broke off after 30 bytes');
  expect(error.cause).toBeInstanceOf(TypeError);
  const used = new Response(file.slice());
  used.body?.getReader();
  expect((await expectRejection(loadSafetensors(backend, used as never), 'INVALID_ARGUMENT')).hint).toContain('once');
  await expectRejection(loadSafetensors(backend, responseOf(['text'])), 'INVALID_ARGUMENT');
});

test('an abort ends a body that gives nothing for ever', async () => {
  const endless = responseOf([]);
  const read = async (): Promise<{ done: boolean; value: Uint8Array }> => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return { done: false, value: new Uint8Array() };
  };
  const body = { getReader: () => ({ read, cancel: () => Promise.resolve() }) };
  const signal = AbortSignal.timeout(50);
  await expect(loadSafetensors(backend, { ...endless, body }, { signal })).rejects.toThrow(/timeout/);
});

test('names of shards are names, not addresses; deep ones and half characters are refused', async () => {
  const { beside } = urlSource('http://a/b/model.json?token=1');
  expect(beside?.('%2e%2e%2fx.safetensors').name).toBe('http://a/b/%252e%252e%252fx.safetensors');
  expect(beside?.('?x.safetensors').name).toBe('http://a/b/%3Fx.safetensors');
  expect(beside?.('#.safetensors').name).toBe('http://a/b/%23.safetensors');
  const deep = `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`;
  for (const file of [
    deep,
    '"\\ud800.safetensors"',
    '"a\\u0000.safetensors"',
    '"../x.safetensors"',
    '"..\\\\x.safetensors"',
  ]) {
    const index = memorySource(new TextEncoder().encode(`{"weight_map":{"x":${file}}}`));
    const source = { ...index, name: 'model.json', beside: () => index };
    const error = await expectRejection(loadSafetensors(backend, source), 'INVALID_ARGUMENT');
    expect(error.message).toContain('which is not the name of a .safetensors file');
  }
});
