import { setImmediate } from 'node:timers/promises';
import { type Attempt, type ComputeBackend, type DeviceInfo, selectBackend } from '@concord/backend-core';
import { type CheckResult, checkScores } from './check.ts';
import { isInstalled } from './list-files.ts';
import { type Scores, PassageMatrix, rowsPerBlock } from './passage-matrix.ts';
import { cutPassages, type Passage } from './passages.ts';
import { createProgress } from './progress.ts';
import { topRows } from './rank.ts';
import { checkFolder, type Documents, readDocuments } from './read-documents.ts';
import { checkBackendNames, type Output, providers, UserError } from '@concord/example-command';
import { type Stage, StageTimes } from './stages.ts';
import { tokenize } from './tokenize.ts';
import { vectorBlocks } from './vectorise.ts';
import { DIMENSIONS, type TermCounts, Vocabulary } from './vocabulary.ts';

/** What to search for, and where. */
export interface SearchRequest {
  readonly question: string;
  readonly folder: string;
  /** Names in order of preference; default: whatever works best. */
  readonly backend?: readonly string[];
  readonly top: number;
  /** Compute every score again on the oracle. */
  readonly check: boolean;
}

/** A passage with its score. */
export interface Hit extends Passage {
  /** Cosine of passage and question. */
  readonly score: number;
}

/** Everything that is printed about one search. */
export interface SearchResult {
  readonly question: string;
  readonly folder: string;
  /** The question's words that occur in the documents. */
  readonly words: readonly string[];
  readonly hits: readonly Hit[];
  readonly best: number;
  readonly average: number;
  readonly files: number;
  readonly passages: number;
  readonly skipped: Documents['skipped'];
  readonly backend: string;
  readonly device: DeviceInfo;
  readonly attempts: readonly Attempt[];
  /** Bytes of the matrix in device memory. */
  readonly matrixBytes: number;
  readonly ms: Readonly<Partial<Record<Stage, number>>>;
  readonly check?: CheckResult;
}

interface Corpus {
  readonly passages: readonly Passage[];
  readonly texts: readonly TermCounts[];
  readonly vocabulary: Vocabulary;
}

/**
 * Searches the text files below a folder by brute force on the best backend of this machine, and gives everything back
 * that was taken from it.
 *
 * @throws {UserError} NO_SUCH_FOLDER, NO_TEXT, NO_WORDS
 * @throws {BackendError}
 */
export async function search(request: SearchRequest, terminal: Output, signal: AbortSignal): Promise<SearchResult> {
  const tokens = [...new Set(tokenize(request.question))];
  if (tokens.length === 0) {
    throw new UserError('NO_WORDS', 'the question has no word to search for', {
      hint: 'use at least one word with meaning',
    });
  }
  await checkFolder(request.folder);
  checkBackendNames(request.backend);
  const { backend, attempts } = await selectBackend(providers(), {
    require: [{ op: 'gemm' }, { op: 'binary' }, { op: 'reduce' }, { op: 'unary' }],
    ...(request.backend === undefined ? {} : { prefer: request.backend }),
  });
  try {
    return { ...(await searchOn(backend, request, tokens, terminal, signal)), attempts };
  } finally {
    await backend.dispose();
  }
}

async function searchOn(
  backend: ComputeBackend,
  { question, folder, top, check }: SearchRequest,
  tokens: readonly string[],
  terminal: Output,
  signal: AbortSignal,
): Promise<Omit<SearchResult, 'attempts'>> {
  const times = new StageTimes();
  const { documents, skipped } = await times.measureAsync('read', () => readAll(folder, terminal, signal));
  const corpus = await times.measureAsync('cut', () => cutAll(documents, terminal, signal));
  if (corpus.passages.length === 0) {
    const hint = 'files that end in .md, .markdown, .txt, .rst and .adoc are read';
    const { binary, unreadable } = skipped;
    const except = binary + unreadable === 0 ? '' : `, except ${binary} binary and ${unreadable} unreadable files`;
    throw new UserError('NO_TEXT', `there is no text below ${folder}${except}`, { hint });
  }
  const { words, vector } = questionVector(tokens, corpus.vocabulary);
  const matrix = new PassageMatrix(backend);
  try {
    const passageOfRow = await buildMatrix(matrix, corpus, rowsPerBlock(backend), times, terminal, signal);
    await times.measureAsync('normalise', async () => {
      matrix.computeNorms();
      await backend.synchronize({ signal });
    });
    const scores = await times.measureAsync('score', () => matrix.score(vector, signal));
    const hits = times.measure('rank', () => rank(scores, top, words, passageOfRow, corpus));
    const blocks = (): ReturnType<typeof vectorBlocks> =>
      vectorBlocks(corpus.texts, corpus.vocabulary, rowsPerBlock(backend));
    const result = check ? times.measure('check', () => checkScores(scores, vector, blocks())) : undefined;
    return {
      ...{ question, folder, words, hits, skipped, ms: times.ms },
      ...{ best: scores.best, average: scores.average, files: documents.length, passages: matrix.rows },
      ...{ backend: backend.name, device: backend.device, matrixBytes: matrix.bytes },
      ...(result === undefined ? {} : { check: result }),
    };
  } finally {
    matrix.free();
  }
}

async function readAll(folder: string, terminal: Output, signal: AbortSignal): Promise<Documents> {
  const progress = createProgress(terminal, 'files read');
  const onProgress = (done: number, total: number): void => progress.update(done, total);
  return readDocuments(folder, { signal, onProgress }).finally(() => progress.stop());
}

/** Cuts and counts. A text that occurs again, as licences do, is taken once. */
async function cutAll(documents: Documents['documents'], terminal: Output, signal: AbortSignal): Promise<Corpus> {
  const progress = createProgress(terminal, 'files cut into passages');
  try {
    return await cutEach(documents, signal, (done) => progress.update(done, documents.length));
  } finally {
    progress.stop();
  }
}

async function cutEach(
  documents: Documents['documents'],
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<Corpus> {
  const passages: Passage[] = [];
  const texts: TermCounts[] = [];
  const vocabulary = new Vocabulary();
  const seen = new Set<string>();
  for (const [index, document] of documents.entries()) {
    if (index % 16 === 0) await breathe(signal);
    onProgress(index);
    for (const passage of cutPassages(document)) {
      if (seen.has(passage.text)) continue;
      seen.add(passage.text);
      const tokens = tokenize(passage.text);
      if (tokens.length === 0) continue;
      passages.push(passage);
      texts.push(vocabulary.learn(tokens));
    }
  }
  return { passages, texts, vocabulary };
}

function questionVector(
  tokens: readonly string[],
  vocabulary: Vocabulary,
): { readonly words: string[]; readonly vector: Float32Array } {
  const words = tokens.filter((token) => vocabulary.count([token]).length > 0);
  const vector = new Float32Array(DIMENSIONS);
  if (!vocabulary.addVector(vocabulary.count(words), vector)) {
    const hint = 'ask in other words, or give --dir a folder that is about them';
    throw new UserError('NO_WORDS', `no document has any of: ${tokens.join(', ')}`, { hint });
  }
  return { words, vector };
}

/** Fills the matrix block by block; returns which passage each row stands for. */
async function buildMatrix(
  matrix: PassageMatrix,
  { passages, texts, vocabulary }: Corpus,
  blockRows: number,
  times: StageTimes,
  terminal: Output,
  signal: AbortSignal,
): Promise<number[]> {
  const passageOfRow: number[] = [];
  const progress = createProgress(terminal, 'passages uploaded');
  try {
    const blocks = vectorBlocks(texts, vocabulary, blockRows);
    for (;;) {
      await breathe(signal);
      const { value: block, done } = times.measure('vectorise', () => blocks.next());
      if (done === true) return passageOfRow;
      times.measure('upload', () => matrix.append(block));
      passageOfRow.push(...block.passages);
      progress.update(passageOfRow.length, passages.length);
    }
  } finally {
    progress.stop();
  }
}

/**
 * The best passages that have at least one of the words; others score by words that hash alike. Those of the folder's own
 * documents come before those of installed packages.
 */
function rank(
  scores: Scores,
  top: number,
  words: readonly string[],
  passageOfRow: readonly number[],
  { passages, texts, vocabulary }: Corpus,
): Hit[] {
  const wanted = new Set(idsOf(vocabulary.count(words)));
  const hasWord = (row: number): boolean =>
    idsOf(texts[passageOfRow[row] as number] as TermCounts).some((id) => wanted.has(id));
  const passageOf = (row: number): Passage => passages[passageOfRow[row] as number] as Passage;
  return [false, true]
    .flatMap((installed) =>
      topRows(scores.values, top, (row) => isInstalled(passageOf(row).file) === installed && hasWord(row)),
    )
    .filter(({ score }) => score > 0)
    .slice(0, top)
    .map(({ row, score }) => ({ ...passageOf(row), score }));
}

function idsOf(counts: TermCounts): number[] {
  return [...counts].filter((_, index) => index % 2 === 0);
}

/** Lets signals in between two pieces of work. */
async function breathe(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
