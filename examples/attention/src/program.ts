import { fileURLToPath } from 'node:url';
import type { ComputeBackend } from '@concord/backend-core';
import {
  type CommandContext,
  type CommonOptions,
  counted,
  defineProgram,
  deviceFields,
  deviceText,
  EXIT,
  factLines,
  type Program,
  UserError,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { cutPassages, DIMENSIONS, readDocuments, tokenize } from '@concord/example-search';
import { Option } from 'commander';
import { type BlockInput, runBlock, untrainedWeights } from './attention-block.ts';
import { checkBlock } from './check-block.ts';
import { embedWords } from './embed-words.ts';

interface Options extends CommonOptions {
  readonly dir: string;
  readonly causal?: boolean;
}

/** This checkout, which examples/search searches too. */
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
/** Words shown of those that a word attends to. */
const SHOWN = 4;
const SHAPE = { dimensions: DIMENSIONS, heads: 4, headDim: 64 };

/** Shows which words of a sentence attend to which. */
export const runProgram: Program = defineProgram<Options>({
  name: 'attention',
  description: 'Which words of a sentence attend to which, on whichever compute backend works best on this machine.',
  examples: [
    'attention "the driver frees the memory of a kernel"',
    'attention --causal --dir ~/notes "what I wrote about apple trees"',
  ],
  exitCodes: {
    ok: "done, and every value is within the bound of the oracle's",
    failed: 'one is not, or the device failed',
    usage: 'wrong arguments, or words that no document has',
  },
  define: (command) =>
    command
      .argument('<sentence>', `up to ${SHAPE.headDim} words, besides those like "the" and "of"`)
      .addOption(
        new Option('--dir <folder>', 'learn the words from the text files below it').default(CHECKOUT, 'this checkout'),
      )
      .option('--causal', 'a word sees only itself and those before it'),
  run: async ([sentence = ''], options, context) => {
    const words = wordsOf(sentence);
    const learnt = await learnWords(words, options.dir, context.signal);
    const require = [{ op: 'gemm' }, { op: 'attention' }] as const;
    return withBackend(options.backend, require, (backend) => attend(backend, words, learnt, options, context));
  },
});

async function attend(
  backend: ComputeBackend,
  words: readonly string[],
  { vectors, passages, files }: Learnt,
  { causal = false, json }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const input: BlockInput = { ...SHAPE, words: words.length, vectors, causal };
  const weights = untrainedWeights(SHAPE);
  const computed = await runBlock(backend, input, weights, { signal });
  const check = checkBlock(input, weights, computed);
  const { heads, headDim, dimensions } = SHAPE;
  const shares = sharesOf(words.length, computed.attended, heads);
  const result = { words, shares, ...SHAPE, causal, passages, files, ...deviceFields(backend), check };
  writeResult(stdout, json, result, () => {
    const share = `${(100 * check.worstShare).toPrecision(2)}% of the allowed error used`;
    const facts = {
      Block: `${counted(words.length, 'word')} of ${dimensions}, ${heads} heads of ${headDim}, ${causal ? '' : 'not '}causal`,
      Learnt: `from ${counted(passages, 'passage')} of ${counted(files, 'file')}`,
      Backend: deviceText(backend),
      Check: `${check.passed ? 'passed' : 'failed'}: ${check.values.toLocaleString('en')} values against the float64 oracle, ${share}`,
    };
    return `${attentionTable(words, shares)}\n\n${factLines(facts)}`;
  });
  return check.passed ? EXIT.ok : EXIT.failed;
}

/**
 * The share of its attention that each word gives to each, `[words, words]`: the mean of the heads.
 *
 * @param attended - `[words, heads, columns]`, of which the first `words` columns count
 */
export function sharesOf(words: number, attended: Float32Array, heads: number): number[][] {
  const columns = attended.length / heads / words;
  return Array.from({ length: words }, (_row, i) =>
    Array.from({ length: words }, (_column, j) => {
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += attended[(i * heads + head) * columns + j] as number;
      return sum / heads;
    }),
  );
}

/** One line for each word: those it attends to, in per cent, the largest share first. */
export function attentionTable(words: readonly string[], shares: readonly (readonly number[])[]): string {
  const width = Math.max('word'.length, ...words.map((word) => word.length));
  const lines = words.map((word, i) => {
    const cells = words
      .map((other, j) => ({ other, percent: Math.round(100 * (shares[i]?.[j] as number)) }))
      .filter(({ percent }) => percent > 0)
      .sort((a, b) => b.percent - a.percent)
      .slice(0, SHOWN)
      .map(({ other, percent }) => `${other} ${percent}%`.padEnd(width + 5));
    return `${word.padEnd(width)}  ${cells.join('  ')}`.trimEnd();
  });
  return [`${'word'.padEnd(width)}  attends to`, ...lines].join('\n');
}

function wordsOf(sentence: string): readonly string[] {
  const words = tokenize(sentence);
  if (words.length === 0) {
    throw new UserError('NO_WORDS', 'the sentence has no word with meaning', {
      hint: 'use at least one word that is not like "the" and "of"',
    });
  }
  if (words.length <= SHAPE.headDim) return words;
  throw new UserError('TOO_LONG', `the sentence has ${words.length} words, more than ${SHAPE.headDim}`, {
    hint: 'use a shorter one',
  });
}

/** The vector of each word, and the amount of text that it comes from. */
interface Learnt {
  /** `[words, DIMENSIONS]` */
  readonly vectors: Float32Array;
  readonly passages: number;
  readonly files: number;
}

/** @throws {UserError} UNKNOWN_WORDS */
async function learnWords(words: readonly string[], folder: string, signal: AbortSignal): Promise<Learnt> {
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
