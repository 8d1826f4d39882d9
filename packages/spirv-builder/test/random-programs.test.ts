import fc from 'fast-check';
import { expect, it } from 'vitest';
import { emitProgram } from './support/emit-program.ts';
import { drawProgram } from './support/random-program.ts';
import { needSpirvTools, validationErrors } from './support/spirv-tools.ts';

const PROGRAMS = 150;

// backend-levelzero runs such programs on a device and compares them with the interpreter.
it(`accepts and completes ${PROGRAMS} random programs, and spirv-val every module`, (context) => {
  const programs = fc.sample(drawProgram(), { numRuns: PROGRAMS, seed: 2026 });
  const modules = programs.map(emitProgram);
  needSpirvTools(context);
  expect(validationErrors(modules, 'opencl2.2')).toEqual([]);
});
