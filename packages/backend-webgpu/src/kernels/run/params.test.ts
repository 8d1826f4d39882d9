import type { Launch } from '@concord/backend-core/implement';
import type { KernelParameter } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import type { StorageBuffer } from '../recorder.ts';
import { paramWords, paramWordsOf } from './params.ts';

const PARAMS = [
  { name: 'scale', type: 'f32' },
  { name: 'count', type: 'u32' },
] as readonly KernelParameter[];
const values = [0.5, 7];
const words = Uint32Array.of(0x3f00_0000, 7);

it('parameters are words of their types', () => {
  expect(paramWords(PARAMS, values)).toEqual(words);
  expect(paramWords([], [])).toBeUndefined();
});

it('are those of a run, and of the epilogue of every op that takes one', () => {
  const of = (call: object): Uint32Array | undefined => paramWordsOf(call as Launch<StorageBuffer>);
  const own = { kernel: { params: PARAMS } };
  expect(of({ kernel: 'run', call: own, params: values })).toEqual(words);
  expect(of({ kernel: 'gemm', call: { epilogue: own }, params: values })).toEqual(words);
  expect(of({ kernel: 'conv2dForward', call: { epilogue: own }, params: values })).toEqual(words);
  expect(of({ kernel: 'gemm', call: {}, params: [] })).toBeUndefined();
  expect(of({ kernel: 'topK', call: {}, params: [] })).toBeUndefined();
});
