import type { CommandNode, OptionNode, Values } from './command-tree.ts';

/** A completion script for fish. */
export function fishCompletion({ name, commands, options }: CommandNode): string {
  const line = (...parts: readonly string[]): string => ['complete', '-c', name, ...parts].join(' ');
  const lines = [
    `# Completion of ${name} for fish: ${name} completion fish | source`,
    line('-f'),
    ...commands.map((each) => line('-n', '__fish_use_subcommand', '-a', each.name, '-d', quote(each.description))),
    ...options.map((option) => line('-n', '__fish_use_subcommand', optionParts(option))),
    ...commands.flatMap((each) => {
      const isHere = quote(`__fish_seen_subcommand_from ${each.name}`);
      const words = each.arguments.flatMap((values) => ('words' in values ? values.words : []));
      return [
        ...(each.arguments.some(({ kind }) => kind === 'file') ? [line('-n', isHere, '-F')] : []),
        ...(words.length === 0 ? [] : [line('-n', isHere, '-a', quote(words.join(' ')))]),
        ...each.options.map((option) => line('-n', isHere, optionParts(option))),
      ];
    }),
  ];
  return `${lines.join('\n')}\n`;
}

function optionParts({ flags, description, values }: OptionNode): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...names, ...(values === null ? [] : [valueParts(values)]), '-d', quote(description)].join(' ');
}

function valueParts(values: Values): string {
  if (values.kind === 'file') return '-r -F';
  if (values.kind === 'text') return '-x';
  const words = values.words.join(' ');
  return `-x -a ${values.kind === 'list' ? quote(`(__fish_append , ${words})`) : quote(words)}`;
}

const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
