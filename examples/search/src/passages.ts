import { plainText } from './plain-text.ts';
import type { Document } from './read-documents.ts';

/** A piece of a document: what is found and shown. */
export interface Passage {
  readonly file: string;
  /** Line of the file on which it starts, from 1. */
  readonly line: number;
  readonly text: string;
}

const MAX_WORDS = 120;
/** A heading starts a new passage unless the current one would be a fragment. */
const FRAGMENT_WORDS = 20;

interface Block {
  readonly line: number;
  readonly text: string;
  readonly words: number;
  readonly isHeading: boolean;
}

/** Cuts a document along its paragraphs into passages of up to 120 words. */
export function cutPassages({ path, text }: Document): Passage[] {
  const passages: Passage[] = [];
  let current: Block[] = [];
  let words = 0;
  const end = (): void => {
    const [first] = current;
    if (first !== undefined) {
      passages.push({ file: path, line: first.line, text: current.map((block) => block.text).join('\n') });
    }
    current = [];
    words = 0;
  };
  for (const block of blocksOf(plainText(text))) {
    if (words + block.words > MAX_WORDS || (block.isHeading && words >= FRAGMENT_WORDS)) end();
    current.push(block);
    words += block.words;
  }
  end();
  return passages;
}

/** Paragraphs; those of more than 120 words in pieces. */
function* blocksOf(text: string): Generator<Block> {
  let start = 0;
  let lines: string[] = [];
  for (const [index, line] of [...text.split(/\r\n|\r|\n/), ''].entries()) {
    const isHeading = /^#{1,6}\s/.test(line);
    if (lines.length > 0 && (line.trim() === '' || isHeading)) {
      yield* piecesOf(lines, start);
      lines = [];
    }
    if (line.trim() === '') continue;
    if (lines.length === 0) start = index + 1;
    lines.push(line.trim());
    if (isHeading) {
      yield* piecesOf(lines, start, true);
      lines = [];
    }
  }
}

function* piecesOf(lines: readonly string[], start: number, isHeading = false): Generator<Block> {
  let piece: string[] = [];
  let line = start;
  for (const [index, content] of lines.entries()) {
    for (const word of content.split(/\s+/)) {
      if (piece.length === 0) line = start + index;
      piece.push(word);
      if (piece.length < MAX_WORDS) continue;
      yield { line, text: piece.join(' '), words: piece.length, isHeading };
      piece = [];
    }
  }
  if (piece.length > 0) yield { line, text: piece.join(' '), words: piece.length, isHeading };
}
