import type { ComputeBackend } from '@concord/backend-core';
import { type CaseContext, CaseFailure, type ConformanceCase, formatParams, parseParams } from '../harness/case.ts';
import type { BackendFactory } from '../run-conformance.ts';
import { drawProgram } from './draw-program.ts';
import { planOf, PROGRAM_CALLS } from './program-calls.ts';
import { runProgram, stepsMade } from './run-program.ts';
import {
  allocatedIn,
  type CallStep,
  noCounts,
  type Place,
  placeOfOperand,
  type Program,
  type ProgramCounts,
  type ProgramFailure,
  type ProgramOperand,
  type RecordableStep,
  slotOf,
  type Step,
  WORD_TEXT,
  writtenText,
} from './step.ts';

/** A JavaScript expression in the arguments of a call. */
class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A program as JavaScript, to paste into a module that has an initialized `backend`. */
export function programText(program: Program): string {
  const kernels = new Map<object, string>();
  const lines = program.flatMap((step, index) => linesOf(step, index, kernels));
  const uses = (name: string): boolean => lines.some((line) => line.includes(`${name}(`));
  const core = ['toF16Array', 'toBf16Array'].filter(uses);
  return [
    ...(core.length > 0 ? [`import { ${core.join(', ')} } from '@concord/backend-core';`] : []),
    ...(kernels.size > 0 ? ["import { kernelFromJson } from '@concord/backend-core/kernel';"] : []),
    ...(uses('word') ? [WORD_TEXT] : []),
    ...[...kernels].map(([kernel, name]) => `const ${name} = kernelFromJson(${JSON.stringify(kernel)});`),
    'const reads = [];',
    ...lines,
    'await Promise.all(reads);',
  ].join('\n');
}

function linesOf(step: Step, index: number, kernels: Map<object, string>): string[] {
  switch (step.do) {
    case 'read':
      return [
        `const got${index} = new Uint8Array(${step.bytes});`,
        step.givenUp === true
          ? `{ const wait = new AbortController(); backend.copyDtoh(got${index}, ${placeText(step.from)}, wait).catch(() => {}); wait.abort(); }`
          : `reads.push(backend.copyDtoh(got${index}, ${placeText(step.from)}));`,
      ];
    case 'wait': {
      const calls = {
        reads: 'await Promise.all(reads);',
        device: 'await backend.synchronize();',
        nothing: 'backend.flush();',
        others: 'await new Promise((next) => setTimeout(next));',
      };
      return [calls[step.for]];
    }
    case 'record':
      return [
        `const r${step.id} = backend.record(() => {`,
        ...[...step.body, ...[...allocatedIn(step.body)].map((id): RecordableStep => ({ do: 'free', id }))].map(
          (own) => `  ${recordableLine(own, kernels)}`,
        ),
        `}${slotText(step)});`,
      ];
    case 'replay':
      return [`r${step.id}.replay(${step.to === undefined ? '' : `{ s: ${placeText(step.to)} }`});`];
    case 'release':
      return [`r${step.id}.dispose();`];
    default:
      return [recordableLine(step, kernels)];
  }
}

function slotText({ body, slotBytes }: Step & { readonly do: 'record' }): string {
  return slotBytes === undefined ? '' : `, { slots: { s: { ptr: p${slotOf(body)}, bytes: ${slotBytes} } } }`;
}

function recordableLine(step: RecordableStep, kernels: Map<object, string>): string {
  switch (step.do) {
    case 'alloc':
      return `const p${step.id} = backend.alloc(${step.bytes});`;
    case 'free':
      return `backend.free(p${step.id});`;
    case 'write':
      return `backend.copyHtod(${placeText(step.to)}, ${writtenText(step)});`;
    case 'fill':
      return `backend.fill(${placeText(step.to)}, ${step.value}, ${step.bytes});`;
    case 'copy':
      return `backend.copyDtod(${placeText(step.to)}, ${placeText(step.from)}, ${step.bytes});`;
    case 'call':
      return callText(step, kernels);
  }
}

function callText(step: CallStep, kernels: Map<object, string>): string {
  const call = planOf(step);
  if (call === undefined) return '// a call that cannot be made';
  const places = call.operands.map((operand: ProgramOperand) => placeOfOperand(operand, step.places));
  const args = call.argumentsOf((operand) => new Expression(placeText(places[operand] as Place)));
  return `backend.${call.op}(${args.map((arg) => valueText(arg, kernels)).join(', ')});`;
}

const placeText = ({ id, at }: Place): string => (at === 0 ? `p${id}` : `p${id} + ${at}`);

function valueText(value: unknown, kernels: Map<object, string>): string {
  if (value instanceof Expression) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => valueText(each, kernels)).join(', ')}]`;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if ('nodes' in value) {
    const name = kernels.get(value) ?? `kernel${kernels.size + 1}`;
    kernels.set(value, name);
    return name;
  }
  const fields = Object.entries(value).filter(([, own]) => own !== undefined);
  return `{ ${fields.map(([key, own]) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${valueText(own, kernels)}`).join(', ')} }`;
}

/** A smaller program that still fails, and how. */
interface ShrunkProgram {
  readonly program: Program;
  readonly failure: ProgramFailure;
}

/** The limits of shrinking. */
interface ShrinkLimits {
  readonly milliseconds: number;
  /** Times that a program is run before it counts as right: what depends on timing does not fail each time. */
  readonly repeats: number;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_LIMITS: ShrinkLimits = { milliseconds: 15_000, repeats: 4 };

/**
 * Leaves out what a failing program does not need, then makes its calls and lengths smaller, on backend objects of its own.
 *
 * @param create - makes a backend object; it is not initialized yet
 * @returns the smallest program that failed; undefined where the program itself did not fail again
 */
export async function shrinkProgram(
  create: BackendFactory,
  program: Program,
  limits: ShrinkLimits = DEFAULT_LIMITS,
): Promise<ShrunkProgram | undefined> {
  const end = performance.now() + limits.milliseconds;
  let backend: ComputeBackend | undefined;
  const failureOf = async (candidate: Program): Promise<ProgramFailure | undefined> => {
    for (let turn = 0; turn < limits.repeats; turn++) {
      if (performance.now() > end || limits.signal?.aborted === true) return undefined;
      if (backend === undefined) {
        backend = await create();
        await backend.init();
      }
      const failure = await runProgram(backend, candidate);
      if (failure === undefined) continue;
      // What failed may have left more behind than wrong bytes.
      await backend.dispose().catch(() => undefined);
      backend = undefined;
      return failure;
    }
    return undefined;
  };
  try {
    const failure = await failureOf(program);
    if (failure === undefined) return undefined;
    let best: ShrunkProgram = { program, failure };
    const adopt = async (candidate: Program): Promise<boolean> => {
      const found = await failureOf(candidate);
      if (found !== undefined) best = { program: candidate, failure: found };
      return found !== undefined;
    };
    // Nothing after the step that is wrong is needed, but its wait may be.
    await adopt(program.slice(0, failure.step + 1));
    await exclude(() => best.program, adopt);
    await makeSmaller(() => best.program, adopt);
    await exclude(() => best.program, adopt);
    return best;
  } finally {
    await backend?.dispose().catch(() => undefined);
  }
}

/** Leaves out halves, quarters, and so on, then single steps. */
async function exclude(current: () => Program, adopt: (candidate: Program) => Promise<boolean>): Promise<void> {
  for (let size = Math.ceil(current().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = current().length - size; at > -size; at -= size) {
      const first = Math.max(0, at);
      await adopt([...current().slice(0, first), ...current().slice(first + size)]);
    }
  }
}

async function makeSmaller(current: () => Program, adopt: (candidate: Program) => Promise<boolean>): Promise<void> {
  for (let at = 0; at < current().length; at++) {
    for (let isSmaller = true; isSmaller;) {
      isSmaller = false;
      for (const step of smallerSteps(current()[at] as Step)) {
        const candidate = current().map((own, index) => (index === at ? step : own));
        if (!(await adopt(candidate))) continue;
        isSmaller = true;
        break;
      }
    }
  }
}

/** Steps that do less in place of one. */
function smallerSteps(step: Step): readonly Step[] {
  switch (step.do) {
    case 'record':
      return step.body.map((_, left): Step => ({ ...step, body: step.body.filter((_other, at) => at !== left) }));
    case 'call':
      return PROGRAM_CALLS[step.kind].smaller(step.params).flatMap((params): RecordableStep[] => {
        const smaller = { ...step, params };
        const regions = planOf(smaller)?.regions.length ?? 0;
        return regions === 0 ? [] : [{ ...smaller, places: step.places.slice(0, regions) }];
      });
    case 'write':
    case 'fill':
    case 'copy':
    case 'read':
      return step.bytes > 1
        ? [
            { ...step, bytes: Math.ceil(step.bytes / 2) },
            { ...step, bytes: step.bytes - 1 },
          ]
        : [];
    default:
      return [];
  }
}

/** Parameters of a case: the number of a program, and of its steps. */
type ProgramParams = { readonly seed: number; readonly steps: number };

const DEFAULTS: ProgramParams = { seed: 0, steps: 40 };

/** The listed programs: their numbers are 1 to so many. */
const LISTED = 30;

/** The case of a program. */
export function programCase(params: ProgramParams, onCounts?: (counts: ProgramCounts) => void): ConformanceCase {
  return {
    id: `program/${formatParams(params, DEFAULTS)}`,
    op: 'program',
    params,
    run: (context) => checkProgram(context, params, onCounts),
  };
}

/** The case that an id names; undefined where it names none. */
export function programCaseOf(id: string): ConformanceCase | undefined {
  const [subject, text = '', ...rest] = id.split('/');
  if (subject !== 'program' || rest.length > 0) return undefined;
  const params = parseParams(text, DEFAULTS);
  return params === undefined ? undefined : programCase(params);
}

/** Programs with the first numbers. */
export const programCases: readonly ConformanceCase[] = Array.from({ length: LISTED }, (_, index) =>
  programCase({ ...DEFAULTS, seed: index + 1 }),
);

async function checkProgram(
  { backend, create }: CaseContext,
  { seed, steps }: ProgramParams,
  onCounts: (counts: ProgramCounts) => void = () => undefined,
): Promise<void> {
  const program = drawProgram(seed, steps);
  const counts = noCounts();
  const failure = await runProgram(backend, program, counts);
  onCounts(counts);
  if (failure === undefined) return;
  const shrunk = await shrinkProgram(create, program);
  const [found, how] =
    shrunk === undefined
      ? [{ program, failure }, 'It did not fail again; the whole program:']
      : [shrunk, `Reduced from ${program.length} to ${shrunk.program.length} steps:`];
  throw new CaseFailure(
    `step ${found.failure.step + 1} of ${found.program.length}: ${found.failure.detail}\n${how}\n\n${programText(stepsMade(backend, found.program))}`,
  );
}
