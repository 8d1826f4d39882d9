import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  type CommandContext,
  EXIT,
  integer,
  newCommand,
  providers,
  runCommand,
  UserError,
  verboseOption,
} from '@concord/example-command';
import cliProgress from 'cli-progress';
import { Option } from 'commander';
import { formatResult, type SearchResult } from './report.ts';
import { type Answer, SearchIndex } from './search-index.ts';
import { MAX_TOP, startServer } from './server.ts';
import { watchFolder } from './watch-folder.ts';

type Flags = Partial<Record<'check' | 'watch' | 'serve' | 'json' | 'verbose', boolean>>;
type Options = Flags & Readonly<{ dir: string; backend?: readonly string[]; top: number; port: number }>;
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const HELP = `
Examples:
  search "how do I report a security problem" --check
  search --serve --port 8080 --dir ~/notes --watch
Exit codes: 0 done, also with Ctrl-C for --watch and --serve; 1 --check found a wrong score, or an unforeseen error;
2 wrong arguments, or nothing to search; 3 no backend can be used on this machine; 130 interrupted with Ctrl-C.`;

/** Runs the command line, `args` without interpreter and script, and gives its exit code. */
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = newCommand('search', HELP, context)
    .description('Brute-force text search on whichever compute backend works best on this machine.')
    .argument('[question]', 'what to look for, in plain words')
    .addOption(new Option('--dir <folder>', 'search the text files below it').default(CHECKOUT, 'this checkout'))
    .addOption(backendOption())
    .option('--top <k>', 'how many passages to print, up to 256', integer(1, MAX_TOP), 5)
    .option('--check', 'compute the scores again on the float64 oracle and compare')
    .option('--watch', 'search again, or answer from then on, when files change')
    .option('--serve', 'answer questions over HTTP, on this machine only')
    .option('--port <n>', 'of --serve; 0: any that is free', integer(0, 65_535), 0)
    .option('--json', 'print JSON and nothing else')
    .addOption(verboseOption('show what the registry tried, and the stack of errors'));
  return runCommand(command, args, context, () => {
    const [question] = command.args;
    const options = command.opts<Options>();
    if ((question === undefined) === (options.serve === true)) return run(question, options, context);
    return command.error('error: either a question or --serve');
  });
}

async function run(question: string | undefined, options: Options, context: CommandContext): Promise<number> {
  const { dir: folder, backend: prefer, port, top, check, watch, json, verbose = false } = options;
  const { stdout, stderr, signal } = context;
  checkBackendNames(prefer);
  const require = [{ op: 'gemm' }, { op: 'run' }, { op: 'topK' }] as const;
  const { backend, attempts } = await selectBackend(providers(), { require, ...(prefer && { prefer }) });
  const index = new SearchIndex(backend, folder);
  // It draws on a terminal and nowhere else. Ctrl-C is handled by the program itself.
  const stream = stderr as NodeJS.WriteStream;
  const bar = new cliProgress.SingleBar({ stream, gracefulExit: false, clearOnComplete: true });
  const refresh = (): Promise<number> => {
    const onProgress = (done: number, all: number): void => (bar.isActive ? bar.update(done) : bar.start(all, done));
    return index.refresh(signal, onProgress).finally(() => bar.stop());
  };
  let code: number | undefined;
  const search = async (): Promise<void> => {
    const start = performance.now();
    if ((await refresh()) === 0 && code !== undefined) return;
    const read = performance.now();
    const [answer] = (await index.search([{ question: question ?? '', top }], { signal })) as [Answer];
    if (answer.words.length === 0 && watch !== true) {
      const message = `none of ${index.facts.passages} passages below ${folder} has a word of "${question}"`;
      throw new UserError('NO_WORDS', message, { hint: 'ask in other words, or give --dir another folder' });
    }
    const ms = { read: read - start, search: performance.now() - read };
    const checked = check === true ? { check: index.check(answer, top) } : {};
    const { name, device } = backend;
    const result: SearchResult = { ...answer, ...index.facts, folder, backend: name, device, attempts, ms, ...checked };
    stdout.write(json === true ? `${JSON.stringify(result, null, 2)}\n` : formatResult(result, stdout, verbose));
    code = result.check?.passed === false ? EXIT.failed : (code ?? EXIT.ok);
  };
  const serve = async (): Promise<void> => {
    await refresh();
    const server = await startServer(index, port);
    stdout.write(`POST ${server.url}/search: ${index.facts.passages} passages on ${backend.name}; Ctrl-C ends it\n`);
    try {
      await (watch ? watchFolder(folder, signal, refresh) : signal.aborted || once(signal, 'abort'));
    } finally {
      await server.close();
    }
  };
  try {
    await (question === undefined ? serve() : watch ? watchFolder(folder, signal, search) : search());
    return code ?? EXIT.ok;
  } finally {
    await backend.dispose();
  }
}
