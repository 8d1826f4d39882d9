// @ts-check
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript-6';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../lib/paths.mjs';
import { allFaults, faultsIn, idOf, plant, recordedKills, sampleOf, withVerdicts } from '../mutate/faults.mjs';
import { failingAnyway, isNoProgram, judge } from '../mutate/judge.mjs';
import { formatReport, scoreByPackage, scoreOf } from '../mutate/report.mjs';
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
    expect(idOf(Object.assign({}, fault, { breaks: 'Something else.' }))).toBe(idOf(fault));
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
 * @returns {import('../mutate/judge.mjs').Verdict}
 */
function verdict(name, end) {
  const fault = { file: `packages/${name}/src/a.ts`, find: 'a', replace: 'b', breaks: 'It breaks.', id: `${name}/a` };
  return { fault, end, by: '' };
}

describe('the report', () => {
  const verdicts = [
    verdict('one', 'killed'),
    verdict('one', 'survived'),
    verdict('two', 'killed'),
    verdict('two', 'invalid'),
  ];

  it('counts by package and in all; what is no program counts for nothing', () => {
    expect(scoreByPackage(verdicts)).toEqual([
      { package: 'one', killed: 1, survived: 1 },
      { package: 'two', killed: 1, survived: 0 },
      { package: 'all', killed: 2, survived: 1 },
    ]);
    expect(scoreOf({ killed: 19, survived: 1 })).toBe(0.95);
  });

  it('says what each survivor breaks', () => {
    const report = formatReport(verdicts);
    expect(report).toContain('survived  one/a\n  breaks: It breaks.\n  - a\n  + b');
    expect(report).toContain('invalid   two/a');
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

describe('a fault of a list from elsewhere', () => {
  const signal = new AbortController().signal;
  const folder = mkdtempSync(join(tmpdir(), 'concord-faults-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** @param {string[]} blocks */
  function listed(...blocks) {
    const list = join(folder, 'list.diff');
    writeFileSync(list, `# Of somebody else.\n${blocks.join('\n\n')}\n`);
    return faultsIn(list);
  }

  const file = 'packages/backend-core/src/implement/list-map.ts';
  const breaks = 'The plan of a longer call is taken.\n-if (a.length !== b.length) return false;';

  it('is killed by the tests beside it, with the one that failed', async () => {
    const [fault] = listed(file, breaks);
    if (fault === undefined) throw new Error('no fault');
    const verdict = await judge(fault, signal);
    expect(verdict).toMatchObject({
      end: 'killed',
      kill: { failure: { file: join(root, 'packages/backend-core/src/implement/list-map.test.ts') } },
    });
    expect(await failingAnyway([verdict], signal)).toEqual([]);
  });

  it('is invalid where its text is not there, or where it leaves no program', async () => {
    const faults = listed(file, 'A.\n-no such text', `${breaks}\n+if (a.length !== ) {`);
    expect(faults).toHaveLength(2);
    for (const fault of faults) expect(await judge(fault, signal)).toMatchObject({ end: 'invalid' });
  });

  it('has a file before it, and says what is changed', () => {
    expect(() => listed(breaks)).toThrow('list.diff: no file before it');
    expect(() => listed(file, 'A.\n+only what is put in')).toThrow('or no lines of - and +: A.');
    expect(() => listed(file, `${breaks}\nneither`)).toThrow('or no lines of - and +');
  });
});
