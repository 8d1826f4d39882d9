import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Arena, runArena } from './arena.ts';
import { casesOf } from './limits/cases.ts';
import { notOffered, type Peer } from './peer.ts';
import { concord } from './peers/concord.ts';
import { loadResults } from './results.ts';

const path = mkdtempSync(join(tmpdir(), 'concord-bench-'));
const order: string[] = [];

beforeEach(() => {
  vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(path, { recursive: true, force: true });
});

function peer(name: string, more: Partial<Peer> = {}): Peer {
  const prepare: Peer['prepare'] = async ({ work }) => {
    order.push(`${name} ${work.op}`);
    return notOffered(work);
  };
  return { name, role: 'peer', version: '1', prepare, ...more };
}

const arena: Arena = {
  name: 'example',
  device: 'a device',
  cases: casesOf('quick').filter(({ name }) => name === '16'),
  schedule: { rounds: 3, roundMs: 0 },
  candidates: [
    { name: 'concord', role: 'ours', load: () => concord('this checkout', () => new CpuBackend()) },
    { name: 'apart', role: 'peer', load: () => peer('apart', { runsLast: true }) },
    { name: 'together', role: 'peer', load: async () => peer('together') },
    { name: 'missing', role: 'peer', load: () => Promise.reject(new Error("Cannot find package 'missing' imported")) },
  ],
  torch: {
    device: 'a device',
    versions: 'torch@2',
    lines: [
      { op: 'gemm', case: '16', ms: 0.5 },
      { op: 'gemm', case: '32', ms: 4 },
      { op: 'gemm_f16', case: '16', failed: 'no half' },
    ],
  },
};

it('times who is there, says why others are not, and takes those apart last', async () => {
  expect(await runArena(arena, { out: path, quick: false })).toBe(true);
  expect(order).toEqual(['together gemm', 'together gemm_f16', 'apart gemm', 'apart gemm_f16']);
  const { contestants, cases } = loadResults(pathToFileURL(`${path}/example/`));
  expect(contestants.map(({ name, absent }) => [name, absent])).toEqual([
    ['concord', undefined],
    ['apart', undefined],
    ['together', undefined],
    ['missing', 'missing is not installed'],
    ['torch', undefined],
  ]);
  const [gemm, half] = cases.map(({ entries }) => new Map(entries.map(({ name, ...entry }) => [name, entry])));
  expect(gemm?.get('concord')?.rounds).toHaveLength(3);
  expect(gemm?.get('apart')).toEqual({ lacks: 'has no gemm' });
  expect(gemm?.get('torch')).toEqual({ ms: 0.5 });
  expect(half?.get('torch')).toEqual({ failed: 'no half' });
  const table = readFileSync(join(path, 'example/table.md'), 'utf8');
  expect(table).toContain('- missing: not run, missing is not installed');
  expect(vi.mocked(console.log).mock.calls.join('\n')).toContain(table.trim());
});

it('is not content where one of our own results is not there', async () => {
  const wrong: Peer = { ...peer('concord'), role: 'ours', prepare: () => Promise.reject(new Error('device lost')) };
  const alone = { ...arena, candidates: [{ name: 'concord', role: 'ours', load: () => wrong }] } as const;
  expect(await runArena(alone, { out: path, quick: true })).toBe(false);
});
