import { OP_NAMES } from '@concord/backend-core';
import type { Argument, Command, Option } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

const SCRIPTS: Readonly<Record<Shell, (tree: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The script of `concord completion` for a shell. */
export function completion(shell: Shell, program: Command, backends: readonly string[]): string {
  return SCRIPTS[shell](commandTree(program, backends));
}

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

/** A completion script for bash. */
export function bashCompletion({ name, commands, options }: CommandNode): string {
  const root = [...commands.map((command) => command.name), ...options.flatMap(({ flags }) => flags)];
  return `# Completion of ${name} for bash: eval "$(${name} completion bash)"
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= word i
  # bash takes --option=value apart.
  if [[ $cur == = ]]; then cur=
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word != -* ]]; then command=$word; break; fi
  done
  COMPREPLY=()
  case "$command $prev" in
${commands.flatMap(valueBranches).join('\n')}
  esac
  case $command in
    '') COMPREPLY=($(compgen -W '${root.join(' ')}' -- "$cur")) ;;
${commands.map(commandBranch).join('\n')}
  esac
}
complete -F _${name} ${name}
`;
}

/** The completions after an option that takes a value. */
function valueBranches({ name, options }: CommandNode): string[] {
  return options.flatMap(({ flags, values }) =>
    values === null ? [] : [`    ${flags.map((flag) => `'${name} ${flag}'`).join(' | ')}) ${reply(values)}return ;;`],
  );
}

/** One name a line: names have blanks. The bash of macOS has no compopt, and is none the worse for it. */
const FILES = `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null || :; `;

function reply(values: Values): string {
  if (values.kind === 'text') return '';
  if (values.kind === 'file') return FILES;
  const words = values.words.join(' ');
  if (values.kind === 'words') return `COMPREPLY=($(compgen -W '${words}' -- "$cur")); `;
  return `COMPREPLY=($(compgen -P "\${cur%"\${cur##*,}"}" -W '${words}' -- "\${cur##*,}")); `;
}

function commandBranch({ name, options, arguments: values }: CommandNode): string {
  const words = values.flatMap((each) => ('words' in each ? each.words : []));
  const all = [...words, ...options.flatMap(({ flags }) => flags)].join(' ');
  const files = values.some(({ kind }) => kind === 'file') ? `if [[ $cur != -* ]]; then ${FILES}return; fi; ` : '';
  return `    ${name}) ${files}COMPREPLY=($(compgen -W '${all}' -- "$cur")) ;;`;
}

/** A completion script for fish. */
export function fishCompletion({ name, commands, options }: CommandNode): string {
  const line = (...parts: readonly string[]): string => ['complete', '-c', name, ...parts].join(' ');
  const lines = [
    `# Completion of ${name} for fish: ${name} completion fish | source`,
    line('-f'),
    ...commands.map((each) => line('-n', '__fish_use_subcommand', '-a', each.name, '-d', quoteFish(each.description))),
    ...options.map((option) => line('-n', '__fish_use_subcommand', optionParts(option))),
    ...commands.flatMap((each) => {
      const isHere = quoteFish(`__fish_seen_subcommand_from ${each.name}`);
      const words = each.arguments.flatMap((values) => ('words' in values ? values.words : []));
      return [
        ...(each.arguments.some(({ kind }) => kind === 'file') ? [line('-n', isHere, '-F')] : []),
        ...(words.length === 0 ? [] : [line('-n', isHere, '-a', quoteFish(words.join(' ')))]),
        ...each.options.map((option) => line('-n', isHere, optionParts(option))),
      ];
    }),
  ];
  return `${lines.join('\n')}\n`;
}

function optionParts({ flags, description, values }: OptionNode): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...names, ...(values === null ? [] : [valueParts(values)]), '-d', quoteFish(description)].join(' ');
}

function valueParts(values: Values): string {
  if (values.kind === 'file') return '-r -F';
  if (values.kind === 'text') return '-x';
  const words = values.words.join(' ');
  return `-x -a ${values.kind === 'list' ? quoteFish(`(__fish_append , ${words})`) : quoteFish(words)}`;
}

const quoteFish = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

/** A completion script for zsh. */
export function zshCompletion({ name, commands, options }: CommandNode): string {
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh), or as a file _${name} in a folder of $fpath
_${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${options.flatMap(specs).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(${commands.map((each) => quote(`${each.name}:${each.description}`)).join(' ')})
      _describe command commands ;;
    rest)
      case $words[1] in
${commands.map(branch).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function branch({ name, options, arguments: values }: CommandNode): string {
  const positions = values.map((each, i) => quote(`${isMany(each) ? '*' : i + 1}: :${action(each)}`));
  return `        ${name}) _arguments ${[...options.flatMap(specs), ...positions].join(' ')} ;;`;
}

function isMany(values: Values): boolean {
  return values.kind === 'file' && values.isMany === true;
}

function specs({ flags, description, values }: OptionNode): string[] {
  const text = description.replace(/[[\]:\\]/g, '\\$&');
  return flags.map((flag) =>
    quote(
      `${flag}${values !== null && flag.startsWith('--') ? '=' : ''}[${text}]${values === null ? '' : `: :${action(values)}`}`,
    ),
  );
}

function action(values: Values): string {
  if (values.kind === 'file') return '_files';
  if (values.kind === 'text') return ' ';
  return values.kind === 'list' ? `_sequence compadd - ${values.words.join(' ')}` : `(${values.words.join(' ')})`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
