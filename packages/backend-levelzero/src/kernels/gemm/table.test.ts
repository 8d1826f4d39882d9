import { expect, it } from 'vitest';
import { fakeSpan } from '../../../test/support/plan-recorder.ts';
import type { Recorder } from '../recorder.ts';
import { ReusedScratch } from './table.ts';

it('memory is used again for the same use where it is large enough', () => {
  const taken: number[] = [];
  const scratch = (bytes: number) => {
    taken.push(bytes);
    return fakeSpan(bytes, 256);
  };
  const reused = new ReusedScratch({ scratch } as unknown as Recorder);
  const { span } = reused.take('rows', 100);
  expect(reused.take('rows', 100)).toEqual({ span, isFilled: false });
  expect(reused.take('rows', 40).span).toBe(span);
  expect(reused.take('columns', 100).span).not.toBe(span);
  const larger = reused.take('rows', 101).span;
  expect(larger.byteLength).toBe(101);
  expect(reused.take('rows', 101).span).toBe(larger);
  expect(taken).toEqual([100, 100, 101]);
});

it('memory is filled where it holds the same contents', () => {
  const reused = new ReusedScratch({ scratch: (bytes: number) => fakeSpan(bytes, 256) } as unknown as Recorder);
  const { span } = reused.take('rows', 100, 'a');
  expect(reused.take('rows', 100, 'a')).toEqual({ span, isFilled: true });
  expect(reused.take('rows', 100, 'b')).toEqual({ span, isFilled: false });
  expect(reused.take('rows', 100).isFilled).toBe(false);
  expect(reused.take('rows', 100).isFilled).toBe(false);
});
