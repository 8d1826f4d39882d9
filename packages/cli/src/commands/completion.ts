import { Argument, type Command } from 'commander';
import { bashCompletion } from '../completion/bash.ts';
import { type CommandNode, commandTree } from '../completion/command-tree.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import type { CommandContext, Finish } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

const SCRIPTS: Readonly<Record<string, (tree: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const HELP = `
Examples:
  eval "$(concord completion bash)"                                    in ~/.bashrc
  source <(concord completion zsh)                                     in ~/.zshrc, after compinit
  concord completion fish > ~/.config/fish/completions/concord.fish

Exit codes:
  0    the script was printed
  2    wrong arguments`;

/** Adds `concord completion`: scripts that let shells complete the command line. Add it after all other commands. */
export function addCompletionCommand(program: Command, { providers, stdout }: CommandContext, finish: Finish): void {
  program
    .command('completion')
    .summary('print a script that lets a shell complete this command')
    .description('Prints a script that lets a shell complete commands, options, backends and ops.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      const backends = providers.map(({ name }) => name);
      stdout.write(SCRIPTS[shell]?.(commandTree(program, backends)) ?? '');
      finish(EXIT.ok);
    });
}
