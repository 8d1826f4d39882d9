import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { describe, expect, it } from 'vitest';
import { openCorpus } from '../src/corpus.ts';
import { merge, type Neighbours } from '../src/neighbours.ts';
import { makePlan } from '../src/plan.ts';
import { runProgram } from '../src/program.ts';
import { TileComputer } from '../src/tile-computer.ts';
import { writeMatrix } from './corpora.mjs';

const never = new AbortController().signal;
const folder = temporaryFolder();
const path = join(folder, 'corpus.safetensors');

describe('merge', () => {
  /** Lists of one row. */
  const list = (...pairs: [score: number, vector: number][]): Neighbours => ({
    rows: 1,
    width: pairs.length,
    scores: Float32Array.from(pairs, ([score]) => score),
    vectors: Uint32Array.from(pairs, ([, vector]) => vector),
  });
  const parts = [list([0.9, 4], [0.5, 2]), list([1, 7], [0.5, 9]), list([0.5, 1])];

  it('takes the best, of equals the lower number, and never the row itself', () => {
    expect(merge(parts, 3, 7)).toEqual(list([0.9, 4], [0.5, 1], [0.5, 2]));
    expect(merge(parts, 3, 0)).toEqual(list([1, 7], [0.9, 4], [0.5, 1]));
  });

  it('does not take candidates of the next row for a list that has no more', () => {
    const rows = (width: number, scores: number[], vectors: number[]): Neighbours => ({
      rows: 2,
      width,
      scores: Float32Array.from(scores),
      vectors: Uint32Array.from(vectors),
    });
    const short = rows(1, [0.9, 0.8], [10, 11]);
    const long = rows(3, [0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [2, 3, 4, 5, 6, 7]);
    const merged = rows(3, [0.9, 0.7, 0.6, 0.8, 0.4, 0.3], [10, 2, 3, 11, 5, 6]);
    expect(merge([short, long], 3, 0)).toEqual(merged);
    expect(merge([long, short], 3, 0)).toEqual(merged);
  });

  it('does not make up neighbours', () => {
    expect(() => merge(parts, 5, 7)).toThrow('vector 7 has fewer than 5 candidates');
  });
});

describe('TileComputer', () => {
  it.each([
    ['all shards stay on the device', 1],
    ['one shard at a time fits', 0],
  ])('finds what all pairs give, many of them equal: %s', async (_, mebibytes) => {
    // One of few directions each, so that scores are equal, and exactly so.
    const [rows, dimensions, k] = [150, 8, 12];
    const values = new Float32Array(rows * dimensions);
    for (let row = 0; row < rows; row++) values[row * dimensions + ((row * 7) % dimensions)] = 1 + (row % 3);
    await writeMatrix(path, values, dimensions);
    const corpus = await openCorpus(path);
    const plan = await makePlan(corpus, { k, tile: 64, shard: 23 }, never);
    const backend = await CpuBackend.create();
    const computer = new TileComputer(plan, corpus, backend, mebibytes * 2 ** 20);
    for (const tile of [0, 2, 1]) {
      const found = await computer.compute(tile);
      for (let row = 0; row < found.rows; row++) {
        const own = tile * 64 + row;
        const others = [...Array(rows).keys()].filter((other) => other !== own);
        const alike = (other: number): number => Number((other * 7) % dimensions === (own * 7) % dimensions);
        const right = others.sort((a, b) => alike(b) - alike(a) || a - b).slice(0, k);
        expect([...found.vectors.subarray(row * k, (row + 1) * k)]).toEqual(right);
        expect([...found.scores.subarray(row * k, (row + 1) * k)]).toEqual(right.map(alike));
      }
    }
    expect(backend.memory().liveAllocations).toBe(mebibytes === 0 ? 1 : 7);
    await computer.dispose();
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });
});

describe('what cannot be built', () => {
  const build = (...args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(runProgram, ['build', '--corpus', path, '--out', join(folder, 'graph'), ...args]);
  /** A port that nothing listens on. */
  const nowhere = ['--redis', 'redis://127.0.0.1:1'];

  it.each([
    ['no finite vector', [1, 2, Infinity, 4], `vector 1 of ${path} has an element that is not finite (BAD_CORPUS)`],
    ['NaN', [Number.NaN, 2, 3, 4], `vector 0 of ${path} has an element that is not finite (BAD_CORPUS)`],
    ['no direction', [1, 2, 0, 0], `vector 1 of ${path} is all zeros, which has no direction (BAD_CORPUS)`],
  ])('%s', async (_, values, message) => {
    await writeMatrix(path, Float32Array.from(values), 2);
    const corpus = await openCorpus(path);
    await expect(makePlan(corpus, { k: 1, shard: 8 }, never)).rejects.toThrow(message.replace(' (BAD_CORPUS)', ''));
    await corpus.close();
  });

  it('more neighbours than vectors', async () => {
    await writeMatrix(path, Float32Array.of(1, 2, 3, 4), 2);
    const corpus = await openCorpus(path);
    await expect(makePlan(corpus, { k: 2, shard: 8 }, never)).rejects.toThrow('2 vectors have no 2 others');
    await corpus.close();
  });

  it('no Redis, no such name, no file, no safetensors', async () => {
    expect(await build(...nowhere)).toMatchObject({ code: 2, stdout: '' });
    expect((await build(...nowhere)).stderr).toMatch(
      /^error: no Redis answers at redis:\/\/127\.0\.0\.1:1: connect ECONNREFUSED 127\.0\.0\.1:1 \(NO_REDIS\)\nhint: give --redis, or start one: .*apt install redis-server\)\n$/,
    );
    for (const name of ['a:b', '*', 'a[b]', '']) {
      const { code, stderr } = await build(...nowhere, '--name', name);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `error: --name cannot be "${name}" (INVALID_ARGUMENT)\nhint: use letters, digits, ".", "_" and "-"\n`,
      });
    }
    writeFileSync(path, 'text');
    expect((await build()).stderr).toContain('4 bytes are not a file');
    rmSync(path);
    expect((await build()).stderr).toContain(`cannot open ${path}`);
  });
});
