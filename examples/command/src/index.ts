/** The frame of the examples that are commands. */
export { openBackend, withBackend } from './backend-option.ts';
export { boundedServer } from './bounded-server.ts';
export { atLeast, integer } from './numbers.ts';
export { type Neighbours, neighbours } from './neighbours.ts';
export { type Colors, colorsFor, type Output, widthOf } from './output.ts';
export { type CommandContext, type CommonOptions, defineProgram, type Program, subcommand } from './program.ts';
export { type Progress, progressOn } from './progress.ts';
export { randomNumbers } from './random.ts';
export { EXIT } from './report-error.ts';
export { counted, deviceFields, deviceText, factLines, writeResult } from './result.ts';
export { runMain } from './run-main.ts';
export { UserError } from './user-error.ts';
export { wrap } from './wrap.ts';
