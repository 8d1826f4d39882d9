import type { Command } from 'commander';
import type { Finish, ProgramContext } from '../context.ts';

const HELP = `
Examples:
  concord info gemm/exact/m=17,n=33,k=65,TN
  concord info 'fixed/number/gemm k 0'
  concord info --json unary/range/fn=exp,n=4096

Exit codes:
  0    the case was described
  2    wrong arguments, or there is no such case`;

/** Adds `concord info`: what a conformance case does. */
export function addInfoCommand(program: Command, { stdout }: ProgramContext, finish: Finish): void {
  program
    .command('info')
    .summary('say what a conformance case does')
    .description('Says what a case does, with which inputs, and what bound it holds a backend to. Runs it on the CPU.')
    .argument('<case-id>', 'as fuzz and failed cases print it; concord conformance --list prints all')
    .option('--json', 'print one JSON object instead of the text')
    .addHelpText('after', HELP)
    .action(async (id: string, options: { json?: true }) => {
      const { info } = await import('../commands/info.ts');
      finish(await info(stdout, id, options.json === true));
    });
}
