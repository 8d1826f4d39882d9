import type { FunctionBody } from './function-body.ts';
import { type ArithmeticOps, arithmeticOps } from './ops/arithmetic.ts';
import { type Branches, branches } from './ops/branches.ts';
import { type Calls, calls } from './ops/calls.ts';
import { type ComparisonOps, comparisonOps } from './ops/comparisons.ts';
import { type ConversionOps, conversionOps } from './ops/conversions.ts';
import { type LogicOps, logicOps } from './ops/logic.ts';
import { type Loops, loops } from './ops/loops.ts';
import { type MathOps, mathOps } from './ops/math.ts';
import { type MemoryOps, memoryOps } from './ops/memory.ts';
import { type SubgroupOps, subgroupOps } from './ops/subgroups.ts';
import { type Synchronization, synchronization } from './ops/synchronization.ts';
import { type VectorOps, vectorOps } from './ops/vectors.ts';
import { type WorkItems, workItems } from './ops/work-items.ts';
import type { Type } from './type.ts';
import type { TypeTable } from './type-table.ts';
import type { Value } from './value.ts';

/** Writes the code of a function: each method appends instructions. */
export interface FunctionBuilder
  extends
    ArithmeticOps,
    LogicOps,
    ComparisonOps,
    ConversionOps,
    MathOps,
    VectorOps,
    MemoryOps,
    Branches,
    Loops,
    WorkItems,
    SubgroupOps,
    Synchronization,
    Calls {
  /** The place for messages: `kernel gemm`. */
  readonly place: string;
  /** Types of the module, for vectors and pointers to be made in kernels. */
  readonly types: TypeTable;
  /** A constant of the given type, the same in each component of a vector. */
  constant(type: Type, value: number | bigint | boolean): Value;
}

/** All that a function can be written with. */
export function functionBuilder(body: FunctionBody): FunctionBuilder {
  const [arithmetic, comparisons] = [arithmeticOps(body), comparisonOps(body)];
  const [conversions, vectors] = [conversionOps(body), vectorOps(body)];
  const memory = memoryOps(body, conversions);
  return {
    place: body.place,
    types: body.types,
    constant: (type, value) => body.constant(type, value),
    ...arithmetic,
    ...comparisons,
    ...conversions,
    ...vectors,
    ...memory,
    ...logicOps(body),
    ...mathOps(body),
    ...branches(body),
    ...loops(body, { ...arithmetic, ...comparisons }),
    ...workItems(body, { ...memory, ...vectors }),
    ...subgroupOps(body, conversions),
    ...synchronization(body),
    ...calls(body),
  };
}
