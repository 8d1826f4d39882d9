import { setImmediate } from 'node:timers/promises';
import type { ComputeBackend, WaitOptions } from '@concord/backend-core';
import { gemmReference } from '@concord/backend-cpu/reference';
import { PassageMatrix } from './passage-matrix.ts';
import { cutPassages, type Passage } from './passages.ts';
import { type Documents, readDocuments } from './read-documents.ts';
import { DIMENSIONS, tokenize, unitVector, Vocabulary } from './vocabulary.ts';

/** A question, and the maximum of passages to return. */
export type Question = Readonly<{ question: string; top: number }>;

/** The question's words that occur in the documents, and the best passages with any of them by their cosines. */
export type Answer = Readonly<{ question: string; words: string[]; hits: (Passage & { score: number })[] }>;

/** The passages of all text files below a folder, on a device. After changes it answers as one that is made anew. */
export class SearchIndex {
  readonly #folder: string;
  readonly #matrix: PassageMatrix;
  readonly #vocabulary = new Vocabulary();
  readonly #passages = new Map<number, Passage>();
  readonly #freeRows: number[] = [];
  #documents: Documents = new Map();

  constructor(backend: ComputeBackend, folder: string) {
    this.#folder = folder;
    this.#matrix = new PassageMatrix(backend);
  }

  /** The number of files with text, of other files, and of passages. */
  get facts(): Readonly<Record<'files' | 'skipped' | 'passages', number>> {
    const files = [...this.#documents.values()].filter(({ text }) => text !== undefined).length;
    return { files, skipped: this.#documents.size - files, passages: this.#passages.size };
  }

  /** Reads the files that changed since the last time and replaces their passages. Returns how many files that were. */
  async refresh(signal: AbortSignal, onProgress?: (done: number, total: number) => void): Promise<number> {
    const known = this.#documents;
    this.#documents = await readDocuments(this.#folder, signal, known);
    const all = [...new Set([...known.keys(), ...this.#documents.keys()])];
    const paths = all.filter((path) => known.get(path)?.stamp !== this.#documents.get(path)?.stamp);
    for (const [index, path] of paths.entries()) {
      // Lets signals and requests in.
      await setImmediate(undefined, { signal });
      this.#replace(path, this.#documents.get(path)?.text ?? '');
      onProgress?.(index + 1, paths.length);
    }
    return paths.length;
  }

  /** Answers all questions by one product. Words that hash alike score too, so candidates are told by their words. */
  async search(questions: readonly Question[], wait: WaitOptions): Promise<Answer[]> {
    const isKnown = (word: string): boolean => this.#vocabulary.passagesWith(word).size > 0;
    const words = questions.map(({ question }) => [...new Set(tokenize(question))].filter(isKnown));
    // Also what is shown: by the time the scores are there, rows may hold other passages.
    const candidates = words.map((each) => this.#candidates(each));
    const vectors = Float32Array.from(words.flatMap((each) => [...this.#vocabulary.vectorOf(each)]));
    const lists = candidates.map((list) => list.map(([row]) => row));
    const ranked = await this.#matrix.best(vectors, lists, Math.max(...questions.map(({ top }) => top)), wait);
    return questions.map(({ question, top }, index) => {
      const best = (ranked[index] ?? []).slice(0, top).filter(([, score]) => score > 0);
      const hits = best.map(([place, score]) => ({ ...(candidates[index]?.[place]?.[1] as Passage), score }));
      return { question, words: words[index] as string[], hits };
    });
  }

  /** Compares an answer with the oracle's. */
  check({ words, hits }: Answer, top: number): CheckResult {
    const texts = this.#candidates(words).map(([, { text }]) => text);
    return checkHits(hits, texts, this.#vocabulary.vectorOf(words), top);
  }

  #candidates(words: readonly string[]): [row: number, passage: Passage][] {
    const rows = new Set(words.flatMap((word) => [...this.#vocabulary.passagesWith(word)]));
    return [...rows].map((row) => [row, this.#passages.get(row) as Passage]);
  }

  #replace(path: string, text: string): void {
    for (const [row, passage] of this.#passages) {
      if (passage.file !== path) continue;
      this.#vocabulary.forget(row, tokenize(passage.text));
      this.#passages.delete(row);
      this.#freeRows.push(row);
    }
    for (const passage of cutPassages(path, text)) {
      const tokens = tokenize(passage.text);
      const row = this.#freeRows.pop() ?? this.#passages.size;
      this.#matrix.put(row, unitVector(tokens));
      this.#vocabulary.learn(row, tokens);
      this.#passages.set(row, passage);
    }
  }
}

/** The largest difference of a hit from the oracle, what is allowed, and how many scores were computed. */
export type CheckResult = Readonly<{ passed: boolean; largestDifference: number; allowed: number; scores: number }>;

/** The error that the contract allows a product of vectors of length 1: the error of k + 3 roundings. */
const ALLOWED = ((DIMENSIONS + 3) * 2 ** -23) / (1 - (DIMENSIONS + 3) * 2 ** -23);

/** Computes the scores of texts again in float64. Each hit must have its own, and the n-th that of the n-th best text. */
export function checkHits(hits: Answer['hits'], texts: string[], question: Float32Array, top: number): CheckResult {
  const scoreOf = (text: string): number =>
    gemmReference({ m: 1, n: 1, k: DIMENSIONS }, unitVector(tokenize(text)), question).value[0] as number;
  const best = texts.map(scoreOf).sort((a, b) => b - a);
  const differences = hits.map(({ text, score }) => score - scoreOf(text));
  // A score that is not above 0 is no hit.
  for (let n = 0; n < top; n++) differences.push(Math.max(best[n] ?? 0, 0) - (hits[n]?.score ?? 0));
  const largestDifference = Math.max(...differences.map(Math.abs));
  return { passed: largestDifference <= ALLOWED, largestDifference, allowed: ALLOWED, scores: texts.length };
}
