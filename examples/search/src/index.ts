/** What other programs take from this one: reading files, cutting them into passages, and their vectors. */
export { cutPassages, type Passage } from './passages.ts';
export { checkFolder, type Document, type Documents, readDocuments } from './read-documents.ts';
export { tokenize } from './tokenize.ts';
export { DIMENSIONS, type TermCounts, Vocabulary } from './vocabulary.ts';
