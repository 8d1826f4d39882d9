/** What the examples that are command lines share. */
export {
  backendOption,
  checkBackendNames,
  type CommandContext,
  newCommand,
  runCommand,
  verboseOption,
} from './command.ts';
export { integer } from './integer.ts';
export { type Colors, colorsFor, type Output, widthOf } from './output.ts';
export { providers } from './providers.ts';
export { randomNumbers } from './random.ts';
export { EXIT } from './report-error.ts';
export { runMain } from './run-main.ts';
export { UserError } from './user-error.ts';
export { wrap } from './wrap.ts';
