import { BackendError } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { EXIT, exitCodeOf, NotHere, UsageError } from './options.ts';

it('tells a wrong command and a machine without the device from a failure', () => {
  expect(exitCodeOf(new Error('no'))).toBe(EXIT.failed);
  expect(exitCodeOf(new UsageError('--device takes'))).toBe(EXIT.usage);
  expect(exitCodeOf(Object.assign(new Error('no'), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }))).toBe(EXIT.usage);
  expect(exitCodeOf(new NotHere('no case'))).toBe(EXIT.notHere);
  expect(exitCodeOf(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }))).toBe(EXIT.notHere);
  const unavailable = new BackendError('BACKEND_UNAVAILABLE', 'no GPU', { reason: 'no-device' });
  expect(exitCodeOf(unavailable)).toBe(EXIT.notHere);
});
