import { BackendError } from '@concord/backend-core';
import { checkFields, describe } from '@concord/backend-core/implement';
import { Tensor } from '@concord/ops';

/** `INVALID_ARGUMENT` of a function. */
export function invalidArgument(op: string, detail: string, hint?: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${op}: ${detail}`, { op, ...(hint === undefined ? {} : { hint }) });
}

/** What an option may be; `rate`: a number, a tensor or a function. */
type OptionKind = 'number' | 'boolean' | 'rate';

/**
 * Options in one object, each of its kind. One that there is not would silently mean its default.
 *
 * @param required - names of those without a default
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkOptions(
  op: string,
  options: unknown,
  kinds: Readonly<Record<string, OptionKind>>,
  required: readonly string[],
): void {
  if (typeof options !== 'object' || options === null || options instanceof Tensor || Array.isArray(options)) {
    const got = describe(options);
    throw invalidArgument(op, `takes its options in one object, such as { ${required.join(', ')} }, got ${got}`);
  }
  checkFields(`${op}: options`, options, Object.keys(kinds), { op });
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined && !required.includes(name)) continue;
    if (kind === 'rate' && (value instanceof Tensor || typeof value === 'function')) continue;
    const type = kind === 'rate' ? 'number' : kind;
    const wanted = kind === 'rate' ? 'number, a tensor or a function' : kind;
    if (typeof value !== type) throw invalidArgument(op, `${name} must be a ${wanted}, got ${describe(value)}`);
  }
}

/** `UNSUPPORTED` of a gradient that is not computed. */
export function unsupported(op: string, detail: string, hint: string): BackendError {
  return new BackendError('UNSUPPORTED', `gradient of ${op}: ${detail}`, { op, hint });
}
