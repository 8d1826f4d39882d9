import type { CommandNode, Values } from './command-tree.ts';

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
