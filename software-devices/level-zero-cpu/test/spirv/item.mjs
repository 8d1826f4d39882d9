// @ts-check
// The shape of most cases: one number or vector in, one out, per work-item.
import { moduleText, perItem } from './module.mjs';

/** @typedef {import('./harness.mjs').Case} Case */
/** @typedef {(number | bigint)[]} Numbers */

const inSpirv = (/** @type {string} */ type) => type.replace(/u(\d)/, 'i$1');
const lanesOf = (/** @type {string} */ type) => Number(/^v(\d+)/.exec(type)?.[1] ?? 1);

/**
 * A case whose body makes %y of %x.
 *
 * @param {string} name
 * @param {string} from types such as i32, u8, v4f32: u only says how the numbers are read
 * @param {string} to
 * @param {string} body
 * @param {Numbers} given
 * @param {Numbers | ((x: any) => number | bigint)} expected
 * @param {Partial<import('./module.mjs').ModuleText> & { version?: string, tolerance?: number, constants?: string, size?: number[], groups?: number[], linear?: boolean }} more
 * @returns {Case}
 */
export function item(name, from, to, body, given, expected, more = {}) {
  const { version, tolerance, constants, size, groups, linear, ...text } = more;
  const values = typeof expected === 'function' ? given.map(expected) : expected;
  const items = given.length / lanesOf(from);
  return {
    name,
    text: moduleText({ ...perItem(inSpirv(from), inSpirv(to), body, linear), ...text }),
    ...(version === undefined ? {} : { version }),
    ...(constants === undefined ? {} : { constants }),
    args: [
      { type: from, values: given },
      { type: to, values: values.map(() => 0) },
    ],
    groups: groups ?? [1, 1, 1],
    size: size ?? [items, 1, 1],
    expected: [{ arg: 1, values, ...(tolerance === undefined ? {} : { tolerance }) }],
  };
}
