import type { Command } from 'commander';
import type { Finish, ProgramContext } from '../context.ts';

const HELP = `
Files are what conformance and bench write as JSON, and what the page "Test my
GPU" of the documentation downloads. Several files stand side by side: those of
conformance in one table, and those of bench in another.

Examples:
  concord report concord-conformance.json concord-bench.json
  concord report one.json other.json --html report.html

Exit codes:
  0    the reports were shown, and nothing in them failed
  1    a report has a failure, or an unforeseen error
  2    wrong arguments, or a file is no report
  3    nothing failed, but a backend was not run`;

/** Adds `concord report`: shows reports that were written as JSON. */
export function addReportCommand(program: Command, { stdout, stderr }: ProgramContext, finish: Finish): void {
  program
    .command('report')
    .summary('show reports that were written as JSON')
    .description('Reads JSON of conformance and bench, from this machine or others, and shows it side by side.')
    .argument('<file...>', 'JSON that conformance, bench or a page wrote')
    .option('--html <file>', 'write a page to read in a browser; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (files: readonly string[], options: { html?: string }) => {
      const { report } = await import('../commands/report.ts');
      finish(await report({ stdout, stderr }, files, options));
    });
}
