import type { ComputeBackend, DType, OpName } from '@concord/backend-core';
import type { Random } from './random.ts';

/** One parameter of a case. */
export type ParamValue = number | string | boolean | readonly number[];

/** Parameters of a case, flat, so that an id can hold all of them. */
export type Params = Readonly<Record<string, ParamValue>>;

/**
 * Parameters as the last part of a case id: `m=17,n=33,k=65,TN`. What equals its default is left out; a pair of
 * transposes and flags stand alone; lists are written `2x3x4`, a list of one `4x`, an empty one `x`.
 */
export function formatParams<P extends Params>(params: P, defaults: P): string {
  const parts: string[] = [];
  for (const [key, value] of Object.entries(params)) {
    if (String(value) === String(defaults[key])) continue;
    if (key === 'trans' || value === true) parts.push(key === 'trans' ? String(value) : key);
    else if (Array.isArray(value)) parts.push(`${key}=${value.length < 2 ? `${value.join('')}x` : value.join('x')}`);
    else parts.push(`${key}=${String(value)}`);
  }
  return parts.length === 0 ? 'default' : parts.join(',');
}

/** The inverse of {@link formatParams}; undefined where the text does not fit the defaults' names and types. */
export function parseParams<P extends Params>(text: string, defaults: P): P | undefined {
  const params: Record<string, ParamValue> = { ...defaults };
  if (text === 'default') return params as P;
  for (const part of text.split(',')) {
    const [key, raw] = /^[NTC]{2}$/.test(part) ? ['trans', part] : splitPart(part);
    const value = parseValue(raw, defaults[key]);
    if (value === undefined) return undefined;
    params[key] = value;
  }
  return params as P;
}

function splitPart(part: string): [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [part, 'true'] : [part.slice(0, at), part.slice(at + 1)];
}

function parseValue(raw: string, like: ParamValue | undefined): ParamValue | undefined {
  if (typeof like === 'string') return raw;
  if (typeof like === 'boolean') return raw === 'true' ? true : undefined;
  if (typeof like === 'number') {
    return raw === 'NaN' || (/^-?(\d|Infinity)/.test(raw) && !Number.isNaN(Number(raw))) ? Number(raw) : undefined;
  }
  if (Array.isArray(like))
    return /^(\d+x(\d+(x\d+)*)?|x)$/.test(raw) ? raw.split('x').filter(Boolean).map(Number) : undefined;
  return undefined;
}

/** The subject of a case: an op, one of the two parts of the contract that are not ops, or programs of all of them. */
export type CaseSubject = OpName | 'memory' | 'lifecycle' | 'program';

/** The requirements of a case on a backend; without it the case is `unsupported`, and the call must throw `UNSUPPORTED`. */
export interface Needs {
  readonly op: OpName;
  readonly dtype: DType;
  /** The whole call without its pointers, where the case makes one call of the op: it is what `supports` is asked. */
  readonly shape?: Readonly<Record<string, unknown>>;
  /** A call that must be refused where `supports` says no. Default: `shape`, or the op's sample, with that dtype. */
  readonly call?: (backend: ComputeBackend) => void;
}

/** Elements that a case compared with intervals. */
export interface Tally {
  elements: number;
  /** Elements without a useful bound: nearly any value would pass. */
  loose: number;
}

/** The context of a running case. */
export interface CaseContext {
  /** Initialized, shared by the cases of a run. */
  readonly backend: ComputeBackend;
  /** Seeded by the id of the case. */
  readonly random: Random;
  /** Counts what the oracle knew of the results. */
  readonly tally: Tally;
  /** A separate backend object, not initialized; disposed after the case. */
  readonly create: () => Promise<ComputeBackend>;
}

/** A check of the contract, as data. */
export interface ConformanceCase {
  /** Stable, such as `gemm/exact/m=17,n=33,k=65,TN`. */
  readonly id: string;
  readonly op: CaseSubject;
  readonly params: Params;
  readonly needs?: Needs;
  /** Resolves when the backend behaves; rejects with what it did wrong. */
  run(context: CaseContext): Promise<void>;
}

/** A case without parameters. */
export function caseOf(id: string, op: CaseSubject, run: ConformanceCase['run'], needs?: Needs): ConformanceCase {
  return { id, op, params: {}, run, ...(needs === undefined ? {} : { needs }) };
}

/** A separate backend object, initialized; disposed after the case. */
export async function initialized({ create }: Pick<CaseContext, 'create'>): Promise<ComputeBackend> {
  const backend = await create();
  await backend.init();
  return backend;
}

/** The first place at which a result leaves the wanted one, as numbers: the message says it in words. */
export interface Mismatch {
  /** The compared output, such as `c`. */
  readonly what: string;
  readonly unit: 'element' | 'byte';
  /** The number of those of `total` that are wrong. */
  readonly wrong: number;
  readonly total: number;
  /** The first that is wrong. */
  readonly index: number;
  readonly got: number;
  readonly want: number;
  /** Largest absolute error allowed there; 0: the wanted value itself. */
  readonly bound: number;
  /** Distance from the wanted value in units in its last place; left out if there is none. */
  readonly ulp?: number;
  /** The origin of the value, such as `exp(88.73)`. */
  readonly inputs?: string;
}

/** A wrong answer. Its message is the report's `detail`. */
export class CaseFailure extends Error {
  override readonly name = 'CaseFailure';
  readonly mismatch: Mismatch | undefined;

  constructor(message: string, mismatch?: Mismatch) {
    super(message);
    this.mismatch = mismatch;
  }
}

/** A call that the backend declares unsupported and refuses: its case counts as `unsupported`, with the reason. */
export class UnsupportedCall extends Error {
  override readonly name = 'UnsupportedCall';
}

/** @throws {CaseFailure} unless the condition holds */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new CaseFailure(message);
}

/** One way to check an op. */
export type Check<P extends Params> = (context: CaseContext, params: P) => Promise<void>;

/** The parts that the author of a suite writes: ways to check an op, and parameters to check it with. */
export interface SuiteDefinition<P extends Params> {
  readonly op: OpName;
  /** Value of each parameter that an id leaves out. */
  readonly defaults: P;
  readonly checks: Readonly<Record<string, Check<P>>>;
  /** The fixed list: name of a check and the parameters that differ from the defaults. */
  readonly list: readonly (readonly [check: string, params: Partial<P>])[];
  /** The requirements of the case on a backend, beyond the op; left out where each of its calls asks for itself. */
  needs?(params: P, check: string): Omit<Needs, 'op'>;
  /** Random parameters, and a check that suits them. */
  draw(random: Random): readonly [check: string, params: P];
  /** Smaller parameters that might fail too, the boldest first. */
  shrink(params: P): readonly Partial<P>[];
}

/** A random case, and the smaller ones that it shrinks to. */
export interface DrawnCase {
  readonly testCase: ConformanceCase;
  smaller(): DrawnCase[];
}

/** The cases of one op: the list, replay by id and fuzzing. */
export interface Suite {
  readonly op: OpName;
  cases(): ConformanceCase[];
  /** The case that an id names, also one that is not in the list; undefined when the id is not of this suite. */
  fromId(id: string): ConformanceCase | undefined;
  draw(random: Random): DrawnCase;
  /** Smaller parameters that might fail too, the boldest first. */
  smaller(params: Params): readonly Params[];
}

/** Makes a suite of its definition. */
export function defineSuite<P extends Params>(definition: SuiteDefinition<P>): Suite {
  const { op, defaults, checks, list } = definition;
  const make = (name: string, check: Check<P>, params: P): ConformanceCase => ({
    id: `${op}/${name}/${formatParams(params, defaults)}`,
    op,
    params,
    ...(definition.needs === undefined || op === 'run' ? {} : { needs: { op, ...definition.needs(params, name) } }),
    run: (context) => check(context, params),
  });
  const checkOf = (name: string): Check<P> => {
    const check = checks[name];
    if (check === undefined) throw new Error(`${op} has no check "${name}"`);
    return check;
  };
  const drawn = (name: string, params: P): DrawnCase => ({
    testCase: make(name, checkOf(name), params),
    smaller: () => definition.shrink(params).map((change) => drawn(name, { ...params, ...change })),
  });
  return {
    op,
    cases: () => list.map(([name, params]) => make(name, checkOf(name), { ...defaults, ...params })),
    fromId: (id) => {
      const [idOp, name = '', text = '', ...rest] = id.split('/');
      const params = parseParams(text, defaults);
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      if (idOp !== op || check === undefined || params === undefined || rest.length > 0) return undefined;
      return make(name, check, params);
    },
    draw: (random) => drawn(...definition.draw(random)),
    smaller: (params) => definition.shrink(params as P).map((change) => ({ ...params, ...change })),
  };
}
