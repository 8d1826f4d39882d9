import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Attempt, ComputeBackend } from '@concord/backend-core';
import {
  type CommandContext,
  type CommonOptions,
  defineProgram,
  EXIT,
  integer,
  type Program,
  progressOn,
  UserError,
  watchFolder,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { Option } from 'commander';
import { formatResult, type SearchResult } from './report.ts';
import { type Answer, SearchIndex } from './search-index.ts';
import { MAX_TOP, startServer } from './server.ts';

interface Options extends CommonOptions {
  readonly dir: string;
  readonly top: number;
  readonly port: number;
  readonly check?: boolean;
  readonly watch?: boolean;
  readonly serve?: boolean;
}

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const NEEDED = [{ op: 'gemm' }, { op: 'run' }, { op: 'topK' }] as const;

/** Searches text, or serves searches. */
export const runProgram: Program = defineProgram<Options>({
  name: 'search',
  description:
    'Finds passages by the words of a question (not its meaning), on the compute backend that works best here.',
  examples: ['search "how do I report a security problem" --check', 'search --serve --port 8080 --dir ~/notes --watch'],
  exitCodes: {
    ok: 'done, also with Ctrl-C for --watch and --serve',
    failed: '--check found a wrong score, or an unforeseen error',
    usage: 'wrong arguments, or nothing to search',
  },
  verbose: 'show what the registry tried, and the stack of errors',
  define: (command) =>
    command
      .argument('[question]', 'what to look for, in plain words')
      .addOption(new Option('--dir <folder>', 'search the text files below it').default(CHECKOUT, 'this checkout'))
      .option('--top <k>', 'how many passages to print, up to 256', integer(1, MAX_TOP), 5)
      .option('--check', 'compute the scores again on the float64 oracle and compare')
      .option('--watch', 'search again, or answer from then on, when files change')
      .option('--serve', 'answer questions over HTTP, on this machine only')
      .option('--port <n>', 'of --serve; 0: any that is free', integer(0, 65_535), 0),
  run: async ([question], options, context) => {
    if ((question === undefined) !== (options.serve === true))
      throw new UserError('USAGE', 'either a question or --serve', { hint: '--help lists the options' });
    return withBackend(options.backend, NEEDED, (backend, attempts) =>
      searchOn(backend, attempts, question, options, context),
    );
  },
});

async function searchOn(
  backend: ComputeBackend,
  attempts: readonly Attempt[],
  question: string | undefined,
  { dir: folder, port, top, check, watch, json, verbose = false }: Options,
  { stdout, stderr, signal }: CommandContext,
): Promise<number> {
  const index = new SearchIndex(backend, folder);
  const progress = progressOn(stderr, 'files');
  const refresh = (): Promise<number> => index.refresh(signal, progress.update).finally(() => progress.stop());
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
    writeResult(stdout, json, result, () => formatResult(result, stdout, verbose));
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
  await (question === undefined ? serve() : watch ? watchFolder(folder, signal, search) : search());
  return code ?? EXIT.ok;
}
