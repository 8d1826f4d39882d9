import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compressToEncodedURIComponent } from 'lz-string';
import { hashOf, MAX_SOURCE, sharedIn } from '../playground/share.ts';
import { evaluation, readEvaluation, readOutput } from '../playground/kernel/evaluation.ts';
import { syntaxFaultOf } from '../playground/kernel/transpile.ts';
import { type RunProgress, type RunResult, runProgram } from '../playground/kernel/run-program.ts';
import { verdictOf } from '../playground/kernel/judge.ts';
import type { Output, Picture } from '../playground/kernel/program-api.ts';

const picture: Picture = {
  values: Float32Array.from({ length: 6 * 5 * 4 }, (_, i) => ((i * 37) % 100) / 100),
  shape: [6, 5, 4],
};
const folder = join(import.meta.dirname, '../playground/starters');
const starters = readdirSync(folder).filter((name) => name !== 'index.ts');
const isKernel = (name: string): boolean => /from 'playground';/.test(sourceOf(name)) && /\nrun\(/.test(sourceOf(name));
const sourceOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const page = { picture, sliders: {}, backend: 'cpu' };

async function runOn(
  backend: 'webgpu' | 'wasm' | 'cpu',
  source: string,
): Promise<{ result: RunResult; progress: readonly RunProgress[] }> {
  const progress: RunProgress[] = [];
  // As it comes from the sandbox.
  const evaluated = readEvaluation(structuredClone(await evaluation({ source, ...page })));
  if (evaluated.fault !== undefined) return { result: { fault: evaluated.fault }, progress };
  if (evaluated.kernel === undefined) return { result: { outputs: [] }, progress };
  const result = await runProgram({ ...evaluated, backend }, (each) => progress.push(each));
  return { result, progress };
}

const faultOf = async (source: string) => (await runOn('cpu', source)).result.fault;

describe.each(['cpu', 'wasm'] as const)('on %s', (backend) => {
  it.each(starters.filter(isKernel))(
    '%s runs, with its graph, its WGSL, and values that the oracle lets pass',
    async (name) => {
      const { result, progress } = await runOn(backend, sourceOf(name));
      expect(result.fault).toBeUndefined();
      expect(progress.map(({ kind }) => kind)).toEqual(['graph', 'wgsl', 'values']);
      for (const each of progress) {
        if (each.kind === 'graph') expect(each.graph.nodes.at(-1)?.outputs).toEqual(['y']);
        if (each.kind === 'wgsl') expect(each.wgsl.passes[0]?.code).toContain('@compute');
        if (each.kind === 'values') expect(each.device).toMatch(new RegExp(`^${backend} on `));
      }
      const [output] = result.outputs ?? [];
      expect(output).toMatchObject({ name: 'y', wrong: 0 });
      expect(output?.total).toBeGreaterThan(20);
      for (const { isRight, got, lo, hi } of output?.rows ?? [])
        expect([isRight, lo <= got, got <= hi]).toEqual([true, true, true]);
    },
  );
});

describe('programs that compute with tensors', () => {
  // Those that go on for long are cut short.
  const short = (name: string): string =>
    sourceOf(name)
      .replaceAll(/i <= (?:3000|300)\b/g, 'i <= 50')
      .replace('< 400;', '< 5;');

  it.each(starters.filter((name) => !isKernel(name)))('%s puts something onto the page', async (name) => {
    const outputs: Output[] = [];
    const ended = await evaluation({ source: short(name), ...page, backend: 'wasm' }, (output) => {
      outputs.push(readOutput(structuredClone(output)) as Output);
    });
    expect(ended).toEqual({ isDone: true });
    expect(outputs).not.toContain(undefined);
    const pictures = outputs.flatMap((output) => (output.kind === 'picture' ? [output.values] : []));
    if (name !== 'ten-lines.ts') expect(new Set(pictures.at(-1)).size).toBeGreaterThan(1);
    else
      expect(outputs).toMatchObject([
        { kind: 'text', text: expect.stringMatching(/^Float32Array\(4\) \[0\.0474/) as string },
      ]);
  });

  it('take the place of a slider from the page', async () => {
    const source = "import { slider } from 'playground';\nconsole.log(slider('gain', { min: 0, max: 4, value: 1 }));";
    const outputs: Output[] = [];
    await evaluation({ source, ...page, sliders: { gain: 3 } }, (output) => outputs.push(output));
    expect(outputs.map((output) => (output.kind === 'text' ? output.text : output.kind))).toEqual(['slider', '3']);
  });

  it('show nothing that is no picture', () => {
    const values = new Float32Array(6);
    expect(readOutput({ kind: 'picture', label: 'x', values, shape: [2, 3] })).toMatchObject({ kind: 'picture' });
    expect(readOutput({ kind: 'picture', label: 'x', values, shape: [2, 4] })).toMatchObject({ kind: 'text' });
    expect(readOutput({ kind: 'picture', label: 'x', values: 'all', shape: [2, 3] })).toBeUndefined();
    expect(readOutput({ kind: 'text', text: {} })).toBeUndefined();
  });
});

const HEAD = `import { defineKernel } from '@concord/backend-core/kernel';
import { run } from 'playground';
`;

describe('says what is wrong, and where', () => {
  it.each([
    ['a word too many', `${HEAD}const x = = 1;`, 3, /SyntaxError: Unexpected token/],
    ['what it throws', `${HEAD}\n  throw new RangeError('too far');`, 4, /RangeError: too far/],
    [
      'a wrong operand',
      `${HEAD}const f = defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => {\n  const type: string = 'no JavaScript';\n  return { y: k.and(x, x) };\n});`,
      5,
      /and/,
    ],
    ['an unknown module', "import { a } from 'left-pad';\na();", 1, /no module 'left-pad' here/],
  ])('%s', async (_, source, line, message) => {
    const fault = await faultOf(source);
    expect(fault?.message).toMatch(message);
    expect(fault?.line).toBe(line);
  });

  it('of a program that runs nothing, or twice', async () => {
    expect(await faultOf(HEAD)).toMatchObject({ message: 'the program shows nothing' });
    const twice = `${HEAD}const f = defineKernel('f', {}, (_, k) => ({ y: k.toF32(k.index(0)) }));
run(f, { shape: [2] });
run(f, { shape: [3] });`;
    expect(await faultOf(twice)).toMatchObject({ line: 5, message: expect.stringContaining('twice') as string });
  });

  it('of inputs', async () => {
    const kernel = `${HEAD}const f = defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.exp(x) }));\n`;
    expect(await faultOf(`${kernel}run(f, { shape: [2] });`)).toMatchObject({ message: 'input x has no numbers' });
    expect(await faultOf(`${kernel}run(f, { shape: [4], inputs: { x: [1, 2] } });`)).toMatchObject({
      message: 'input x has 2 elements of f32, and the call reads 4',
    });
    expect((await faultOf(`${kernel}run(f, { shape: [-1], inputs: { x: [] } });`))?.message).toMatch(/shape\[0\]/);
  });

  it('of a call that is no data', async () => {
    const kernel = `${HEAD}const f = defineKernel('f', {}, (_, k) => ({ y: k.toF32(k.index(0)) }));\n`;
    expect((await faultOf(`${kernel}run(f, { shape: () => [2] });`))?.message).toMatch(/could not be cloned/);
  });

  it('before it is run', () => {
    expect(syntaxFaultOf('const a: number = 1;')).toBeUndefined();
    expect(syntaxFaultOf('\nconst = 1;')).toMatchObject({ line: 2, column: 7 });
  });
});

describe('takes from a sandbox nothing but data, and checks it', () => {
  it.each([
    ['a verdict', { kind: 'result', result: { outputs: [] } }],
    ['no object', 'All 4 values are right'],
    ['nothing', undefined],
    ['a fault of other types', { fault: { message: {}, line: 'all', hint: 3 } }],
  ])('%s', (_, message) => {
    expect(readEvaluation(message)).toEqual({
      fault: { message: 'the program gave something other than a kernel and its call' },
    });
  });

  it('a kernel that none is, and a call that none is', async () => {
    const forged = { name: 'f', nodes: [{ kind: 'evil' }], inputs: [], params: [], outputs: [], labels: {} };
    const run = (kernel: object, call: object) => runProgram({ kernel, call, backend: 'cpu' }, () => undefined);
    expect((await run(forged, { shape: [2] })).fault?.message).toMatch(/no node of kind "evil"/);
    const asked = await evaluation({
      source: `${HEAD}run(defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.exp(x) })), { shape: [2] });`,
      ...page,
    });
    const kernel = asked.kernel ?? {};
    for (const call of [{}, { shape: 'ab' }, { shape: [2], inputs: { x: { values: { length: 1e12 } } } }])
      expect((await run(kernel, call)).fault?.message).toEqual(expect.any(String));
  });
});

it('shows a wrong element beside its interval', async () => {
  const { judge } = await import('../playground/kernel/judge.ts');
  const { evaluate } = await import('../playground/kernel/evaluate.ts');
  const { prepareRun } = await import('../playground/kernel/prepare-run.ts');
  const source = `${HEAD}const f = defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.exp(x) }));
run(f, { shape: [2, 50], inputs: { x: Array.from({ length: 100 }, (_, i) => i / 100) } });`;
  const run = prepareRun((await evaluate(source, { ...page, put: () => undefined }))!);
  const values = Float32Array.from({ length: 100 }, (_, i) => Math.exp(i / 100));
  values[70] = 0;
  const [output] = judge(run, [values], { f32Subnormals: 'may-flush' });
  expect(output).toMatchObject({ wrong: 1, total: 100 });
  expect(output?.rows).toHaveLength(32);
  expect(output?.rows.filter(({ isRight }) => !isRight)).toMatchObject([{ place: '[1, 20]', got: 0 }]);
});

it('a program is the same after it was in an address', () => {
  const shared = { source: 'const π = "≈ 3"; // <&>\n'.repeat(20), backend: 'wasm' as const };
  const hash = hashOf(shared);
  expect(hash).toMatch(/^#code=[\w+$-]+$/);
  expect(sharedIn(hash)).toEqual(shared);
  expect(sharedIn('#what-is-promised')).toBeUndefined();
  expect(() => sharedIn(hash.slice(0, 40))).toThrow('a part of it is missing');
});

it('a program that is too long is neither put into an address nor taken from one', () => {
  const long = (length: number) => ({ source: 'a'.repeat(length), backend: 'cpu' as const });
  expect(sharedIn(hashOf(long(MAX_SOURCE)))).toEqual(long(MAX_SOURCE));
  const bomb = `#code=${compressToEncodedURIComponent(JSON.stringify(long(500_000)))}`;
  expect(bomb.length).toBeLessThan(6000);
  const message = 'the program has 500,000 characters; an address may hold 100,000';
  expect(() => sharedIn(bomb)).toThrow(message);
  expect(() => hashOf(long(500_000))).toThrow(message);
  expect(() => sharedIn(`#code=${'A'.repeat(20_001)}`)).toThrow('the compressed program has 20,001 characters');
});

it.each([
  ['k.sub(x, x)', /^All 4 values are in the oracle's intervals, but every value is NaN/],
  ['k.max(k.sub(x, x), k.toF32(k.index(0)))', /^All 4 values are in the oracle's intervals, but every value is NaN/],
  ['k.select(k.gt(k.index(0), 0), x, 0)', /^All 4 values are in the oracle's intervals$/],
])('warns of outputs that are nothing but NaN: %s', async (expression, verdict) => {
  const kernel = `const f = defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: ${expression} }));`;
  const { result } = await runOn(
    'cpu',
    `${HEAD}${kernel}\nrun(f, { shape: [4], inputs: { x: [Infinity, Infinity, Infinity, Infinity] } });`,
  );
  expect(result.fault).toBeUndefined();
  expect(verdictOf(result.outputs ?? [])).toMatch(verdict);
});

it("says which call to write for JavaScript's own operators", async () => {
  const kernel = `const f = defineKernel('f', { inputs: { x: 'f32' } }, ({ x }, k) => ({\n  y: k.add(x, x * 2),\n}));`;
  const fault = await faultOf(`${HEAD}${kernel}\nrun(f, { shape: [1], inputs: { x: [1] } });`);
  expect(fault).toMatchObject({ line: 4, message: expect.stringContaining('k.mul(x, 2) for x * 2') as string });
});
