// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';
import { describe, expect, it } from 'vitest';
import { root } from '../lib/paths.mjs';
import { allFaults, sampleOf } from '../mutate/faults.mjs';
import { isNoProgram } from '../mutate/judge.mjs';
import { idOf, plant } from '../mutate/plant.mjs';
import { isHung, usageOfGroup } from '../mutate/processes.mjs';
import { formatReport, scoreByPackage, scoreOf } from '../mutate/report.mjs';
import { recordedKills, withVerdicts } from '../mutate/record.mjs';
import { runAll } from '../mutate/run-all.mjs';
import { stagesOf } from '../mutate/stages.mjs';

const faults = allFaults();
const byFile = new Map(faults.map(({ file }) => [file, faults.filter((fault) => fault.file === file)]));

/** @param {string} code */
function syntaxErrors(code) {
  const source = /** @type {{ parseDiagnostics?: readonly { messageText: unknown }[] }} */ (
    /** @type {unknown} */ (ts.createSourceFile('a.ts', code, ts.ScriptTarget.Latest))
  );
  if (source.parseDiagnostics === undefined) throw new Error('TypeScript no longer tells what is wrong with a source');
  return source.parseDiagnostics.map(({ messageText }) => messageText);
}

describe('the planted faults', () => {
  it('are 150 or more, each with its own name', () => {
    expect(faults.length).toBeGreaterThanOrEqual(150);
    expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
  });

  it.each([...byFile])('%s: each occurs once, differs, and leaves a program', (file, ofFile) => {
    const code = readFileSync(join(root, file), 'utf8');
    for (const fault of ofFile) {
      const planted = plant(code, fault);
      expect(planted, fault.id).not.toBe(code);
      expect(syntaxErrors(planted), fault.id).toEqual([]);
      expect(fault.breaks, fault.id).toMatch(/^\p{Lu}.*\.$/u);
    }
  });

  it.each([...byFile.keys()])('%s has tests that speak for it', (file) => {
    const stages = stagesOf(file);
    expect(stages.length).toBeGreaterThan(0);
    // A file or a folder, or how the name of a file begins.
    for (const path of stages.flatMap(({ files }) => files)) {
      const folder = path.slice(0, path.lastIndexOf('/'));
      expect(existsSync(join(root, folder)), path).toBe(true);
    }
  });
});

describe('a fault', () => {
  const fault = { file: 'packages/some/src/folder/a.ts', find: 'a < b', replace: 'a <= $&', breaks: 'Something.' };

  it('is planted as it is written', () => {
    expect(plant('if (a < b) c();', fault)).toBe('if (a <= $&) c();');
  });

  it('that occurs twice or not at all is refused', () => {
    expect(() => plant('', fault)).toThrow(`${fault.file}: "a < b" occurs 0 times, not once`);
    expect(() => plant('a < b; a < b', fault)).toThrow('occurs 2 times');
  });

  it('has a name that follows from what it changes', () => {
    expect(idOf(fault)).toMatch(/^some\/folder\/a#[0-9a-f]{4}$/);
    expect(idOf({ ...fault, replace: 'a === b' })).not.toBe(idOf(fault));
    expect(idOf({ ...fault, breaks: 'Something else.' })).toBe(idOf(fault));
  });
});

describe('the sample of a day', () => {
  it('is of faults that were killed before, the same all day, and others the next', () => {
    const all = new Set(faults.map(({ id }) => id));
    const some = sampleOf(faults, all, 8, '2026-07-31');
    expect(some).toHaveLength(8);
    expect(sampleOf([...faults].reverse(), all, 8, '2026-07-31')).toEqual(some);
    expect(sampleOf(faults, all, 8, '2026-08-01')).not.toEqual(some);
    expect(
      sampleOf(faults, new Set([idOf(/** @type {typeof faults[number]} */ (faults[5]))]), 8, '2026-07-31'),
    ).toEqual([faults[5]]);
  });

  it('has faults to be of, which are in the list', () => {
    const kills = recordedKills();
    expect(kills.size).toBeGreaterThan(8);
    const known = new Set(faults.map(({ id }) => id));
    expect([...kills].filter((id) => !known.has(id))).toEqual([]);
  });
});

it('a record takes what a run killed, and gives up what survived or is no longer listed', () => {
  const [killed, survivor] = [verdict('one', 'killed'), verdict('two', 'survived')];
  const listed = [killed.fault, survivor.fault, verdict('three', 'killed').fault];
  const after = withVerdicts(new Set(['two/a', 'three/a', 'gone/a']), listed, [killed, survivor]);
  expect([...after].sort()).toEqual(['one/a', 'three/a']);
});

/**
 * @param {string} name
 * @param {import('../mutate/judge.mjs').Verdict['end']} end
 * @param {string} [equivalent]
 * @returns {import('../mutate/judge.mjs').Verdict}
 */
function verdict(name, end, equivalent) {
  const fault = { file: `packages/${name}/src/a.ts`, find: 'a', replace: 'b', breaks: 'It breaks.', id: `${name}/a` };
  return { fault: equivalent === undefined ? fault : { ...fault, equivalent }, end, by: '', cpuSeconds: 1 };
}

describe('the report', () => {
  const verdicts = [
    verdict('one', 'killed'),
    verdict('one', 'survived'),
    verdict('two', 'killed by time'),
    verdict('two', 'survived', 'Nobody looks.'),
    verdict('two', 'invalid'),
  ];

  it('counts by package and in all; what is no program counts for nothing', () => {
    expect(scoreByPackage(verdicts)).toEqual([
      { package: 'one', killed: 1, byTime: 0, survived: 1, explained: 0 },
      { package: 'two', killed: 1, byTime: 1, survived: 0, explained: 1 },
      { package: 'all', killed: 2, byTime: 1, survived: 1, explained: 1 },
    ]);
    expect(scoreOf({ killed: 19, survived: 1 })).toBe(0.95);
  });

  it('says what each survivor breaks, and why no program can see it', () => {
    const report = formatReport(verdicts);
    expect(report).toContain('survived  one/a\n  breaks: It breaks.\n  - a\n  + b');
    expect(report).toContain('survived  two/a\n  breaks: It breaks.\n  equivalent: Nobody looks.');
    expect(report).toContain('invalid   two/a');
  });
});

describe('a run', () => {
  const quiet = () => undefined;
  const three = ['one', 'two', 'three'].map((name) => verdict(name, 'killed').fault);

  it('judges all of them, a number at a time', async () => {
    let now = 0;
    let max = 0;
    const { verdicts, error } = await runAll(
      three,
      async (fault) => {
        max = Math.max(max, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
        return { fault, end: 'killed', by: '', cpuSeconds: 0 };
      },
      { jobs: 2, stop: new AbortController(), print: quiet },
    );
    expect(error).toBeUndefined();
    expect(verdicts).toHaveLength(3);
    expect(max).toBe(2);
  });

  it('that is stopped keeps what it knows', async () => {
    const stop = new AbortController();
    const { verdicts } = await runAll(
      three,
      async (fault) => {
        stop.abort();
        return { fault, end: 'killed', by: '', cpuSeconds: 0 };
      },
      { jobs: 1, stop, print: quiet },
    );
    expect(verdicts).toHaveLength(1);
  });

  it('ends with the error of tests that fail without a fault', async () => {
    const failing = async () => Promise.reject(new Error('without a fault'));
    const { verdicts, error } = await runAll(three, failing, { jobs: 1, stop: new AbortController(), print: quiet });
    expect(verdicts).toEqual([]);
    expect(error).toEqual(new Error('without a fault'));
  });
});

it('what is no program is found', () => {
  expect(syntaxErrors('const a = 1;')).toEqual([]);
  expect(syntaxErrors('const a = ;')).not.toEqual([]);
});

it('source that is no program is not a killed fault', () => {
  expect(isNoProgram('SyntaxError: Unexpected token')).toBe(true);
  expect(isNoProgram('AssertionError: expected 1 to be 2')).toBe(false);
});

describe('processes that wait for ever', () => {
  /** @param {(look: number) => Partial<import('../mutate/processes.mjs').Usage>} usage */
  const looks = (usage, count = 120) =>
    Array.from({ length: count }, (_, look) => ({ cpuSeconds: 5, isWaiting: true, ...usage(look) }));

  it('are those that hardly run for a minute, though they poll', () => {
    expect(isHung(looks(() => ({})))).toBe(true);
    expect(isHung(looks((look) => ({ cpuSeconds: 5 + look / 100, isWaiting: look % 20 > 0 })))).toBe(true);
  });

  it('are not those that run, or that a busy machine lets wait', () => {
    expect(isHung(looks(() => ({}), 119))).toBe(false);
    expect(isHung(looks((look) => ({ cpuSeconds: 5 + look / 20 })))).toBe(false);
    expect(isHung(looks((look) => ({ isWaiting: look % 4 === 0 })))).toBe(false);
  });
});

it.runIf(process.platform === 'linux')('counts the processor time of a group of processes', () => {
  const group = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[2]);
  const usage = usageOfGroup(group);
  expect(usage.cpuSeconds).toBeGreaterThan(0);
  // This process runs as it asks.
  expect(usage.isWaiting).toBe(false);
});
