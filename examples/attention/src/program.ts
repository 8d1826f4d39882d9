import { fileURLToPath } from 'node:url';
import { isBackendError, selectBackend } from '@concord/backend-core';
import { checkFolder, cutPassages, DIMENSIONS, readDocuments, SearchError, tokenize } from '@concord/example-search';
import { Command, CommanderError, Option } from 'commander';
import { type BlockInput, runBlock } from './attention-block.ts';
import { attentionTable } from './attention-table.ts';
import { untrainedWeights } from './block-weights.ts';
import { checkBlock } from './check-block.ts';
import { embedWords } from './embed-words.ts';
import { providers } from './providers.ts';

/** Where text goes: a stream, or a string in tests. */
export interface Output {
  write(text: string): unknown;
}

/** What the program needs from the world around it. */
export interface AttentionContext {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

interface Options {
  readonly dir: string;
  readonly causal?: boolean;
  readonly backend?: readonly string[];
}

const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

/** This checkout, which examples/search searches too. */
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const SHAPE = { dimensions: DIMENSIONS, heads: 4, headDim: 64 };

const HELP = `
Examples:
  attention "the driver frees the memory of a kernel"
  attention --causal --dir ~/notes "what I wrote about apple trees"

Exit codes:
  0    done, and every value is within the bound of the oracle's
  1    one is not, or the device failed
  2    wrong arguments, or words that no document has
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C

CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.`;

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], context: AttentionContext): Promise<number> {
  const program = buildProgram(context);
  try {
    program.parse([...args], { from: 'user' });
    return await run(program.processedArgs[0] as string, program.opts<Options>(), context);
  } catch (error) {
    if (context.signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { message, code, exitCode } = describeError(error);
    context.stderr.write(`error: ${message.split('\n').join(' ')} (${code})\n`);
    return exitCode;
  }
}

function buildProgram({ stdout, stderr }: AttentionContext): Command {
  return new Command('attention')
    .description('Which words of a sentence attend to which, on whichever compute backend works best on this machine.')
    .argument('<sentence>', `up to ${SHAPE.headDim} words, besides those like "the" and "of"`)
    .addOption(
      new Option('--dir <folder>', 'learn the words from the text files below it').default(CHECKOUT, 'this checkout'),
    )
    .option('--causal', 'a word sees only itself and those before it')
    .option('--backend <names>', 'use one of these, in this order (default: the best that works)', names)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Printed by runProgram, in the form of all other errors.
      outputError: () => undefined,
    });
}

async function run(sentence: string, options: Options, { stdout, signal }: AttentionContext): Promise<number> {
  checkNames(options.backend);
  const words = tokenize(sentence);
  if (words.length === 0) throw new SearchError('NO_WORDS', 'the sentence has no word with meaning', '');
  if (words.length > SHAPE.headDim) {
    throw new SearchError('TOO_LONG', `the sentence has ${words.length} words, more than ${SHAPE.headDim}`, '');
  }
  const { vectors, passages, files } = await learnWords(words, options.dir, signal);
  const input: BlockInput = { ...SHAPE, words: words.length, vectors, causal: options.causal === true };
  const weights = untrainedWeights(SHAPE);

  const { backend } = await selectBackend(providers(), {
    require: [{ op: 'batchedGemm' }, { op: 'attention' }, { op: 'gemm' }],
    ...(options.backend === undefined ? {} : { prefer: options.backend }),
  });
  try {
    const result = await runBlock(backend, input, weights, { signal });
    const { passed, values, worstShare } = checkBlock(input, weights, result);
    const { heads, headDim, dimensions } = SHAPE;
    const share = `${(100 * worstShare).toPrecision(2)}% of the allowed error used`;
    const lines = [
      attentionTable(words, result.attended, heads),
      '',
      `Block    ${counted(words.length, 'word')} of ${dimensions}, ${heads} heads of ${headDim}, ${input.causal ? '' : 'not '}causal`,
      `Learnt   from ${counted(passages, 'passage')} of ${counted(files, 'file')}`,
      `Backend  ${backend.name}: ${backend.device.name} [${backend.device.type}]`,
      `Check    ${passed ? 'passed' : 'failed'}: ${values.toLocaleString('en')} values against the float64 oracle, ${share}`,
    ];
    stdout.write(`${lines.join('\n')}\n`);
    return passed ? EXIT.ok : EXIT.failed;
  } finally {
    await backend.dispose();
  }
}

/** The vector of each word, one row each, from the text files below a folder. */
async function learnWords(
  words: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly vectors: Float32Array; readonly passages: number; readonly files: number }> {
  await checkFolder(folder);
  const { documents } = await readDocuments(folder, { signal });
  signal.throwIfAborted();
  const passages = documents.flatMap(cutPassages).map(({ text }) => tokenize(text));
  const vectorOf = embedWords(words, passages);
  const unknown = words.filter((word) => !vectorOf.has(word));
  if (unknown.length > 0) {
    throw new SearchError('UNKNOWN_WORDS', `no document below ${folder} has: ${[...new Set(unknown)].join(', ')}`, '');
  }
  const vectors = new Float32Array(words.length * DIMENSIONS);
  for (const [row, word] of words.entries()) vectors.set(vectorOf.get(word) as Float32Array, row * DIMENSIONS);
  return { vectors, passages: passages.length, files: documents.length };
}

/** `selectBackend` would refuse the name as well, but knows nothing of the option it came from. */
function checkNames(chosen: readonly string[] = []): void {
  const known = providers().map(({ name }) => name);
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new SearchError('INVALID_ARGUMENT', `--backend ${unknown}: there are ${known.join(', ')}`, '');
}

function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}

function names(value: string): string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function describeError(error: unknown): { message: string; code: string; exitCode: number } {
  if (error instanceof SearchError) return error;
  if (isBackendError(error)) {
    const known: Readonly<Record<string, number>> = {
      INVALID_ARGUMENT: EXIT.usage,
      BACKEND_UNAVAILABLE: EXIT.unavailable,
    };
    const hint = error.hint === undefined ? '' : `; ${error.hint}`;
    return { message: error.detail + hint, code: error.code, exitCode: known[error.code] ?? EXIT.failed };
  }
  if (error instanceof CommanderError) {
    return { message: error.message.replace(/^error: /, ''), code: 'USAGE', exitCode: EXIT.usage };
  }
  return { message: error instanceof Error ? error.message : String(error), code: 'UNEXPECTED', exitCode: EXIT.failed };
}
