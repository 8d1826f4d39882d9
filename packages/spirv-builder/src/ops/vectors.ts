import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import { expectType, vectorCount, vectorType } from '../operand-checks.ts';
import { nameOf, type ScalarType, type VectorType } from '../type.ts';
import type { Operand, Value } from '../value.ts';

/** Vectors and their components. */
export interface VectorOps {
  /** A vector of these components, scalars or shorter vectors. */
  vector(type: VectorType, ...parts: readonly Operand[]): Value;
  /** A vector whose components are all the same. */
  splat(type: VectorType, value: Operand): Value;
  /** Component `index` of a vector. */
  extract(vector: Value, index: number): Value;
  /** The vector with another component at `index`. */
  insert(vector: Value, value: Operand, index: number): Value;
  /** The component at an index that is known when the kernel runs; undefined beyond the last. */
  extractAt(vector: Value, index: Value): Value;
  /** Components of `a` and, from index `count of a` on, of `b`, in the order of `indices`. */
  shuffle(a: Value, b: Value, indices: readonly number[]): Value;
}

/** Vectors in a function. */
export function vectorOps(body: FunctionBody): VectorOps {
  return {
    vector: (type, ...parts) => {
      expectVectorType(body, type, 'vector');
      const values = parts.map((part, index) => {
        const name = `part ${index + 1}`;
        const isVector = typeof part === 'object' && body.use(part, 'vector', name).type.kind === 'vector';
        return isVector ? part : body.operand(part, type.component, 'vector', name);
      });
      const counts = values.map((value) => componentsIn(body, value, type.component));
      if (counts.reduce((sum, count) => sum + count, 0) !== type.count) {
        throw body.error('vector', `${counts.join(' + ') || 'no'} components do not make a ${nameOf(type)}`);
      }
      // One part that is all of it: SPIR-V wants two at least.
      if (values.length === 1) return values[0] as Value;
      return body.emit(Op.CompositeConstruct, type, ...values.map(({ id }) => id));
    },

    splat: (type, value) => {
      expectVectorType(body, type, 'splat');
      if (typeof value !== 'object') return body.operand(value, type, 'splat', 'value');
      return spread(body, type, body.operand(value, type.component, 'splat', 'value'));
    },

    extract: (vector, index) => {
      const type = vectorType(body, vector, 'extract', 'vector');
      expectIndex(body, index, type.count, 'extract');
      return body.emit(Op.CompositeExtract, type.component, vector.id, index);
    },

    insert: (vector, value, index) => {
      const type = vectorType(body, vector, 'insert', 'vector');
      expectIndex(body, index, type.count, 'insert');
      const part = body.operand(value, type.component, 'insert', 'value');
      return body.emit(Op.CompositeInsert, type, part.id, vector.id, index);
    },

    extractAt: (vector, index) => {
      const type = vectorType(body, vector, 'extractAt', 'vector');
      if (body.use(index, 'extractAt', 'index').type.kind !== 'int') {
        throw body.error('extractAt', `index is ${nameOf(index.type)}, expected an integer`);
      }
      return body.emit(Op.VectorExtractDynamic, type.component, vector.id, index.id);
    },

    shuffle: (a, b, indices) => {
      const from = vectorType(body, a, 'shuffle', 'operand 1');
      const other = vectorType(body, b, 'shuffle', 'operand 2');
      if (from.component !== other.component) {
        throw body.error('shuffle', `${nameOf(from)} and ${nameOf(other)} have different components`);
      }
      for (const index of indices) expectIndex(body, index, from.count + other.count, 'shuffle');
      const result = body.types.vector(from.component, vectorCount(body, indices.length, 'shuffle'));
      return body.emit(Op.VectorShuffle, result, a.id, b.id, ...indices);
    },
  };
}

function expectVectorType(body: FunctionBody, type: VectorType, instruction: string): void {
  expectType(body, type, instruction);
  if (type.kind !== 'vector') throw body.error(instruction, `${nameOf(type)} is not a vector type`);
}

function componentsIn(body: FunctionBody, { type }: Value, component: ScalarType): number {
  if (type === component) return 1;
  if (type.kind === 'vector' && type.component === component) return type.count;
  throw body.error('vector', `a ${nameOf(type)} is not a part of a vector of ${nameOf(component)}`);
}

function expectIndex(body: FunctionBody, index: number, count: number, instruction: string): void {
  if (!Number.isInteger(index) || index < 0 || index >= count) {
    throw body.error(instruction, `there is no component ${index} of ${count}`);
  }
}

/** A vector whose components are all `scalar`, a value of their type. */
export function spread(body: FunctionBody, type: VectorType, scalar: Value): Value {
  return body.emit(Op.CompositeConstruct, type, ...Array.from({ length: type.count }, () => scalar.id));
}
