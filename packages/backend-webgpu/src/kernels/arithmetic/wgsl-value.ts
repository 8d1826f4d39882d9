import type { ValueType } from '@concord/backend-core/kernel';

/** A value in generated WGSL: the name of a `let`, or a literal. */
export interface WgslValue {
  readonly text: string;
  readonly type: ValueType;
  /** Elements that it holds: neighbours, by component; 1 also for what is the same for all of them. */
  readonly width: 1 | 4;
}

/** The WGSL type of `width` neighbours. */
export function wgslType(type: ValueType, width: 1 | 4): string {
  return width === 1 ? type : `vec4<${type}>`;
}

/** The value with `width` components; a scalar is repeated. */
export function widened({ text, type, width }: WgslValue, wanted: 1 | 4): string {
  return width === wanted ? text : `${wgslType(type, wanted)}(${text})`;
}
