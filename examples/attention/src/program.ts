import { fileURLToPath } from 'node:url';
import { selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  type CommandContext,
  EXIT,
  newCommand,
  providers,
  runCommand,
  UserError,
  verboseOption,
} from '@concord/example-command';
import { cutPassages, DIMENSIONS, readDocuments, tokenize } from '@concord/example-search';
import { type Command, Option } from 'commander';
import { type BlockInput, runBlock } from './attention-block.ts';
import { attentionTable } from './attention-table.ts';
import { untrainedWeights } from './block-weights.ts';
import { checkBlock } from './check-block.ts';
import { embedWords } from './embed-words.ts';

interface Options {
  readonly dir: string;
  readonly causal?: boolean;
  readonly backend?: readonly string[];
}

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
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = attentionCommand(context);
  return runCommand(command, args, context, () =>
    run(command.processedArgs[0] as string, command.opts<Options>(), context),
  );
}

function attentionCommand(context: CommandContext): Command {
  return newCommand('attention', HELP, context)
    .description('Which words of a sentence attend to which, on whichever compute backend works best on this machine.')
    .argument('<sentence>', `up to ${SHAPE.headDim} words, besides those like "the" and "of"`)
    .addOption(
      new Option('--dir <folder>', 'learn the words from the text files below it').default(CHECKOUT, 'this checkout'),
    )
    .option('--causal', 'a word sees only itself and those before it')
    .addOption(backendOption())
    .addOption(verboseOption());
}

async function run(sentence: string, options: Options, { stdout, signal }: CommandContext): Promise<number> {
  checkBackendNames(options.backend);
  const words = tokenize(sentence);
  if (words.length === 0)
    throw new UserError('NO_WORDS', 'the sentence has no word with meaning', {
      hint: 'use at least one word that is not like "the" and "of"',
    });
  if (words.length > SHAPE.headDim) {
    throw new UserError('TOO_LONG', `the sentence has ${words.length} words, more than ${SHAPE.headDim}`, {
      hint: 'use a shorter one',
    });
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
  const documents = await readDocuments(folder, signal);
  signal.throwIfAborted();
  const passages = [...documents.values()]
    .flatMap(({ path, text = '' }) => cutPassages(path, text))
    .map(({ text }) => tokenize(text));
  const vectorOf = embedWords(words, passages);
  const unknown = words.filter((word) => !vectorOf.has(word));
  if (unknown.length > 0) {
    throw new UserError('UNKNOWN_WORDS', `no document below ${folder} has: ${[...new Set(unknown)].join(', ')}`, {
      hint: 'a word is known by the words around it: use others, or --dir with more text',
    });
  }
  const vectors = new Float32Array(words.length * DIMENSIONS);
  for (const [row, word] of words.entries()) vectors.set(vectorOf.get(word) as Float32Array, row * DIMENSIONS);
  return { vectors, passages: passages.length, files: documents.size };
}

function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}
