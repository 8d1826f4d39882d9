import type { CommandNode, OptionNode, Values } from './command-tree.ts';

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
