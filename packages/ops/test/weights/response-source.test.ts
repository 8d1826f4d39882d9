import { expect, test } from 'vitest';
import { responseSource } from '../../src/weights/response-source.ts';

const FILE = Uint8Array.from({ length: 40 }, (_, i) => i + 1);

/** A response whose body comes in pieces of that length. */
function responseOf(length: number): Response {
  const pieces = Array.from({ length: Math.ceil(FILE.length / length) }, (_, i) =>
    FILE.slice(i * length, (i + 1) * length),
  );
  return new Response(
    new ReadableStream({
      pull: (controller) => {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    }),
  );
}

test.each([1, 3, 7, 8, 13, 39, 40, 64])(
  'ranges of a body in pieces of %i bytes are those bytes, however much is skipped',
  async (length) => {
    for (const ranges of [
      [[0, 40]],
      [
        [0, 8],
        [8, 16],
        [16, 40],
      ],
      [
        [5, 6],
        [7, 9],
        [20, 40],
      ],
      [
        [2, 3],
        [3, 3],
        [30, 31],
        [39, 40],
      ],
      [
        [8, 16],
        [24, 32],
      ],
    ] as const) {
      const bytes = await responseSource(responseOf(length)).open(undefined);
      for (const [from, to] of ranges) {
        const got: number[] = [];
        for await (const piece of bytes.pieces(from, to)) got.push(...piece);
        expect(got, `${from} to ${to} of ${JSON.stringify(ranges)}`).toEqual([...FILE.subarray(from, to)]);
      }
      await bytes.close();
    }
  },
);
