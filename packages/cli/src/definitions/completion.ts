import { Argument, type Command } from 'commander';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const HELP = `
Examples:
  eval "$(concord completion bash)"       in ~/.bashrc
  source <(concord completion zsh)        in ~/.zshrc, after compinit
  concord completion fish > ~/.config/fish/completions/concord.fish

Exit codes:
  0    the script was printed
  2    wrong arguments`;

/** Adds `concord completion`: scripts that let shells complete the command line. Add it after all other commands. */
export function addCompletionCommand(program: Command, context: ProgramContext, finish: Finish): void {
  program
    .command('completion')
    .summary('print a script that lets a shell complete this command')
    .description('Prints a script that lets a shell complete commands, options, backends and ops.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { completion } = await import('../commands/completion.ts');
      const { stdout, providers } = await commandContext(context);
      stdout.write(
        completion(
          shell,
          program,
          providers.map(({ name }) => name),
        ),
      );
      finish(EXIT.ok);
    });
}
