import type { Command } from 'commander';

/** A module of another author that brings a backend. */
export interface ModuleOptions {
  /** The path of a JavaScript file, from the working directory, or the name of a package that is installed there. */
  readonly module?: string;
  /** Which of its exports; needed where several could be meant. */
  readonly export?: string;
}

/** Adds `--module` and `--export` to a command that runs a backend. */
export function addModuleOptions(command: Command): Command {
  return command
    .option('--module <file>', 'run the backend that a module exports: a path from here, or an installed package')
    .option('--export <name>', 'which export of --module (default: the only one that can be meant)');
}
