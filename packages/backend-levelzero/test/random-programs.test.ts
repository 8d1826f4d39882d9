import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { emitProgram, STATE_WORDS } from '../../spirv-builder/test/support/emit-program.ts';
import {
  ARRAY_LENGTH,
  drawProgram,
  interpret,
  type Program,
  VARIABLES,
} from '../../spirv-builder/test/support/random-program.ts';
import { LevelZeroBackend } from '../src/levelzero-backend.ts';

// Random programs, written with spirv-builder and run on a device, do what an interpreter in TypeScript says.

const PROGRAMS = 80;
/** Work-items of a run, each with its own state. */
const ITEMS = 8;

const backend = new LevelZeroBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

it(`agrees with the interpreter on ${PROGRAMS} random programs`, async () => {
  const words = fc.array(fc.oneof(fc.constantFrom(0, 1, 0xffff_ffff), fc.integer({ min: 0, max: 2 ** 32 - 1 })), {
    minLength: ITEMS * STATE_WORDS,
    maxLength: ITEMS * STATE_WORDS,
  });
  await fc.assert(
    fc.asyncProperty(drawProgram(), words, async (program, drawn) => {
      const before = withSmallFloats(new Uint32Array(drawn));
      expect(readable(await onDevice(program, before))).toEqual(readable(interpreted(program, before)));
    }),
    { numRuns: PROGRAMS, seed: 2026 },
  );
});

async function onDevice(program: Program, before: Uint32Array): Promise<Uint32Array> {
  const states = backend.alloc(before.byteLength);
  backend.copyHtod(states, before);
  backend.native.launch(emitProgram(program), 'program', [states], [2, 1, 1], { groupSize: [ITEMS / 2, 1, 1] });
  const after = new Uint32Array(before.length);
  await backend.copyDtoh(after, states);
  backend.free(states);
  return after;
}

function interpreted(program: Program, before: Uint32Array): Uint32Array {
  const after = before.slice();
  for (let item = 0; item < ITEMS; item++) {
    const own = after.subarray(item * STATE_WORDS, (item + 1) * STATE_WORDS);
    runOn(own, program);
  }
  return after;
}

const FLOATS = VARIABLES.u32;
const LONGS = FLOATS + VARIABLES.f32;
const ARRAY = LONGS + 2 * VARIABLES.u64;

/** Floats from -1024 to 1024: random bits would soon make everything NaN. */
function withSmallFloats(words: Uint32Array): Uint32Array {
  const floats = new Float32Array(words.buffer);
  for (let at = 0; at < words.length; at++) {
    const place = at % STATE_WORDS;
    if (place >= FLOATS && place < LONGS) floats[at] = ((words[at] as number) % 2 ** 16) / 32 - 1024;
  }
  return words;
}

/** Runs a program on one state. */
function runOn(words: Uint32Array, program: Program): void {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const int = (at: number): bigint => BigInt(words[at] as number);
  const array = Array.from({ length: ARRAY_LENGTH }, (_, at) => int(ARRAY + at));
  const u32 = Array.from({ length: VARIABLES.u32 }, (_, at) => int(at));
  const u64 = Array.from({ length: VARIABLES.u64 }, (_, at) => int(LONGS + 2 * at) | (int(LONGS + 2 * at + 1) << 32n));
  const after = interpret(program, [...u32, ...u64, ...floats.slice(FLOATS, LONGS)], array);
  const longs = VARIABLES.u32 + VARIABLES.u64;
  words.set(after.slice(0, VARIABLES.u32).map(Number));
  words.set(
    after
      .slice(VARIABLES.u32, longs)
      .flatMap((value) => [Number((value as bigint) & 0xffff_ffffn), Number((value as bigint) >> 32n)]),
    LONGS,
  );
  floats.set(after.slice(longs).map(Number), FLOATS);
  words.set(array.map(Number), ARRAY);
}

/** Floats as numbers, so that NaNs with different bits and the two zeros are alike. */
function readable(words: Uint32Array): unknown[] {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  return [...words].map((word, at) => {
    const place = at % STATE_WORDS;
    return place >= FLOATS && place < LONGS ? (floats[at] as number) + 0 : word;
  });
}
