/** The command-line frame of the examples and apps. */
export { deviceFields, deviceText, openBackend, withBackend } from './backend.ts';
export { EXIT, UserError } from './user-error.ts';
export { atLeast, integer } from './numbers.ts';
export {
  type Colors,
  colorsFor,
  counted,
  factLines,
  type Output,
  type Progress,
  progressOn,
  widthOf,
  wrap,
  writeResult,
} from './output.ts';
export {
  type CommandContext,
  type CommonOptions,
  defineProgram,
  type Program,
  runMain,
  subcommand,
} from './program.ts';
export { randomNumbers } from './random.ts';
export { watchFolder } from './watch-folder.ts';
