import { BackendError } from '@concord/backend-core';
import { checkFields, describe } from '@concord/backend-core/implement';

/** @throws {BackendError} INVALID_ARGUMENT unless `options` is an object of these fields, those of `texts` strings */
export function checkNativeOptions(options: unknown, names: readonly string[], texts: readonly string[] = []): void {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object', options);
  checkFields('options', options, names);
  for (const name of texts) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && typeof value !== 'string') throw invalid(`options.${name} must be a string`, value);
  }
}

function invalid(rule: string, value: unknown): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${rule}, got ${describe(value)}`);
}
