import type { Command } from 'commander';
import { bashCompletion } from '../completion/bash.ts';
import { type CommandNode, commandTree } from '../completion/command-tree.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';

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
