import type { OpName } from '@concord/backend-core';
import type { CaseContext, ConformanceCase, Needs } from './case.ts';
import { formatParams, type Params, parseParams } from './case-id.ts';
import type { CheckTexts } from './case-text.ts';
import type { Random } from './random.ts';

/** One way to check an op. */
export type Check<P extends Params> = (context: CaseContext, params: P) => Promise<void>;

/** The parts that the author of a suite writes: ways to check an op, and parameters to check it with. */
export interface SuiteDefinition<P extends Params> {
  readonly op: OpName;
  /** Value of each parameter that an id leaves out. */
  readonly defaults: P;
  readonly checks: Readonly<Record<string, Check<P>>>;
  /** The description of each check, in words. */
  readonly texts: CheckTexts<P>;
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
  const { op, defaults, checks, texts, list } = definition;
  const make = (name: string, check: Check<P>, params: P): ConformanceCase => ({
    id: `${op}/${name}/${formatParams(params, defaults)}`,
    op,
    params,
    ...(definition.needs === undefined || op === 'run' ? {} : { needs: { op, ...definition.needs(params, name) } }),
    about: () => textOf(name)(params),
    run: (context) => check(context, params),
  });
  const checkOf = (name: string): Check<P> => {
    const check = checks[name];
    if (check === undefined) throw new Error(`${op} has no check "${name}"`);
    return check;
  };
  const textOf = (name: string): CheckTexts<P>[string] => {
    const text = texts[name];
    if (text === undefined) throw new Error(`the check ${op}/${name} has no words`);
    return text;
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
