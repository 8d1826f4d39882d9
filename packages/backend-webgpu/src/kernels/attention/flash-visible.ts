import { repeat } from '../wgsl/repeat.ts';
import type { Form } from './form.wgsl.ts';

/** WGSL of which keys the queries of an invocation see, two vectors of four queries. */
export interface Visibility {
  /** Declares how far they see. */
  readonly visible: string;
  /** Returns whether keys, a vector of them, are seen by query `x` of vector g. */
  readonly isSeen: (keys: string, g: number, x: string) => string;
  /** The same of the one key `key`. */
  readonly isRowSeen: (g: number, x: string) => string;
}

/** Calls of any form but `plain` may hide keys in front of those that are seen, too. */
export function visibility(form: Form): Visibility {
  if (form === 'plain') {
    return {
      visible: repeat(2, (g) => `      let visible${g} = visible_to_four(query${g});`),
      isSeen: (keys, g, x) => `${keys} < vec4u(visible${g}.${x})`,
      isRowSeen: (g, x) => `key < visible${g}.${x}`,
    };
  }
  return {
    visible: repeat(
      2,
      (g) => `      let visible${g} = visible_to_four(query${g});\n      let first${g} = first_to_four(query${g});`,
    ),
    isSeen: (keys, g, x) => `(${keys} >= vec4u(first${g}.${x})) & (${keys} < vec4u(visible${g}.${x}))`,
    isRowSeen: (g, x) => `(key >= first${g}.${x}) & (key < visible${g}.${x})`,
  };
}

/** WGSL: functions for any call, of four queries or keys. */
export const byFours: string = /* wgsl */ `
fn first_to_four(query: u32) -> vec4u {
  return vec4u(first_visible(query), first_visible(query + 1u), first_visible(query + 2u), first_visible(query + 3u));
}

fn finish_scores(scores: vec4f, row: u32, key: vec4u) -> vec4f {
  return vec4f(
    finish_score(scores.x, row, key.x),
    finish_score(scores.y, row, key.y),
    finish_score(scores.z, row, key.z),
    finish_score(scores.w, row, key.w),
  );
}`;
