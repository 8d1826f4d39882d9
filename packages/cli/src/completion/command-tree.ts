import { OP_NAMES } from '@concord/backend-core';
import type { Argument, Command, Option } from 'commander';

/** The kinds of values: one of some words, several of them with commas between, a file, several, or anything else. */
export type Values =
  | { readonly kind: 'words' | 'list'; readonly words: readonly string[] }
  | { readonly kind: 'file'; readonly isMany?: boolean }
  | { readonly kind: 'text' };

/** An option, as shells complete it. */
export interface OptionNode {
  /** `-h` and `--help`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** null for a flag. */
  readonly values: Values | null;
}

/** A command, as shells complete it. */
export interface CommandNode {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionNode[];
  readonly arguments: readonly Values[];
  readonly commands: readonly CommandNode[];
}

/** The commands, options and values of a program, from the definitions that parse them. */
export function commandTree(command: Command, backends: readonly string[]): CommandNode {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return {
    name: command.name(),
    description: command.summary() || command.description(),
    options: options.map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null),
      description: option.description,
      values: option.required || option.optional ? valuesOf(option, backends) : null,
    })),
    arguments: command.registeredArguments.map((argument) => argumentValues(argument)),
    commands: help.visibleCommands(command).map((each) => commandTree(each, backends)),
  };
}

function valuesOf(option: Option, backends: readonly string[]): Values {
  if (option.argChoices !== undefined) return { kind: 'words', words: option.argChoices };
  if (option.long === '--backend')
    return { kind: option.flags.includes('<names>') ? 'list' : 'words', words: backends };
  if (option.long === '--op') return { kind: 'list', words: OP_NAMES };
  if (option.long === '--filter') return { kind: 'words', words: OP_NAMES };
  return { kind: option.flags.includes('<file>') ? 'file' : 'text' };
}

function argumentValues(argument: Argument): Values {
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  return argument.name() === 'file' ? { kind: 'file', isMany: argument.variadic } : { kind: 'text' };
}
