import { describeConformance } from '@concord/conformance/vitest';
import { FastMathBackend } from './support/fast-math-backend.ts';

// Shader compilers may assume what -ffast-math assumes. The element functions have to be right all the same.

const FAST = ['-O2', '-ffast-math'];
/** Quotients and roots by approximations and one step of Newton's, as GPUs make them: about the 2.5 ulp of WGSL. */
const RECIPROCALS = [...FAST, '-mrecip=all'];

for (const options of process.arch === 'x64' ? [FAST, RECIPROCALS] : [FAST]) {
  for (const filter of ['unary', 'binary']) {
    await describeConformance(() => new FastMathBackend(options), {
      filter,
      title: `${filter} by gcc ${options.join(' ')}`,
    });
  }
}
