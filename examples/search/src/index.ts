/** The parts that other programs take from this one: reading files, cutting them into passages, and their vectors. */
export { cutPassages, type Passage } from './passages.ts';
export { type Documents, readDocuments } from './read-documents.ts';
export { DIMENSIONS, tokenize, Vocabulary } from './vocabulary.ts';
