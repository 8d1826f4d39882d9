/** Reads the text in pictures: what the program and the page of the site share. */
export { drawLines, type DrawingContext } from './draw.ts';
export { type Line, Ocr, type OcrFiles, type ReadOptions } from './ocr.ts';
export type { Picture, Point } from './picture.ts';
