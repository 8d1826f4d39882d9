import type { Command } from 'commander';
import type { KernelOptions } from '../commands/kernel.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { gathered, size, sizes } from '../option-values.ts';

const HELP = `
A kernel is what defineKernel gives: a computation as data. With --shape it is
also asked of each backend whether it runs such a call and, where the backend
can tell, how: passes, variants and generated code. Inputs and outputs are
dense then, in their declared types.

Examples:
  concord kernel ./dist/softmax.js
  concord kernel ./dist/kernels.js --export norm --shape 8,12,1024 --folded 1
  concord kernel kernel.json --shape 1000 --backend webgpu
  concord kernel ./dist/lookup.js --shape 100 --gather table=50000,64

Exit codes:
  0    the kernels were shown
  1    an unforeseen error
  2    wrong arguments, or the file has no such kernel
  3    none of the backends can be used here`;

/** Adds `concord kernel`: what a kernel computes, and how backends do it. */
export function addKernelCommand(program: Command, context: ProgramContext, finish: Finish): void {
  program
    .command('kernel')
    .summary('show what a kernel computes, and how backends run it')
    .description('Shows the graphs of the kernels that a module exports or a JSON file holds.')
    .argument('<file>', 'a JavaScript module that exports kernels, or a kernel as .json')
    .option('--export <name>', 'only this export (default: the default one, else all that are kernels)')
    .option('--shape <sizes>', 'explain a call over this domain, such as 8,12,64', sizes)
    .option('--folded <n>', 'how many of its last axes make a row', size)
    .option('--gather <name=sizes>', 'the shape of a gather input; may be repeated', gathered)
    .option('--backend <names>', 'ask these backends, with commas between them (default: all that work here)')
    .option('--json', 'print one JSON object instead of the text')
    .addHelpText('after', HELP)
    .action(async (file: string, options: KernelOptions) => {
      const { kernel } = await import('../commands/kernel.ts');
      finish(await kernel(await commandContext(context), file, options));
    });
}
