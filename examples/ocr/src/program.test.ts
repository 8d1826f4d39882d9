import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { createCanvas, GlobalFonts, loadImage } from '@napi-rs/canvas';
import { beforeAll, expect, test } from 'vitest';
import type { Line } from './ocr.ts';
import { runProgram } from './program.ts';

const FONTS = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
const folder = temporaryFolder();
const SIGN = join(folder, 'sign.png');

/** Texts with the place where each begins, its turn in radians, and its size. */
const TEXTS = [
  ['Concord 2026', 40, 60, 0, 34],
  ['Invoice 20417', 30, 130, 0, 24],
  ['Total 93.50', 270, 130, 0, 24],
  ['slanted words', 40, 300, -0.3, 26],
  ['upside down', 440, 190, Math.PI, 26],
] as const;

beforeAll(async () => {
  GlobalFonts.registerFromPath(join(FONTS, 'DejaVuSans.ttf'), 'Test');
  const context = createCanvas(460, 320).getContext('2d');
  context.fillStyle = '#f0ece0';
  context.fillRect(0, 0, 460, 320);
  context.fillStyle = '#26334d';
  for (const [text, x, y, turn, size] of TEXTS) {
    context.setTransform(Math.cos(turn), Math.sin(turn), -Math.sin(turn), Math.cos(turn), x, y);
    context.font = `${size}px Test`;
    context.fillText(text, 0, 0);
  }
  await writeFile(SIGN, context.canvas.toBuffer('image/png'));
  await writeFile(join(folder, 'sign.jpg'), context.canvas.toBuffer('image/jpeg', 90));
});

const run = (args: readonly string[], signal?: AbortSignal) => runCaptured(runProgram, args, signal);

test('reads what a picture says, where and which way, and draws it', { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await run(['--backend', 'wasm', '--json', '--draw', folder, SIGN]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const result = JSON.parse(stdout) as { lines: Line[]; drawn: string };
  expect(result).toMatchObject({ picture: SIGN, width: 460, height: 320, backend: 'wasm' });
  expect(result.lines.map(({ text }) => text).sort()).toEqual(TEXTS.map(([text]) => text).sort());
  for (const [text, x, y, turn, size] of TEXTS) {
    const { box, confidence } = result.lines.find((line) => line.text === text) as Line;
    expect(confidence).toBeGreaterThan(0.85);
    // The lower left corner is near where the text began, and the side from there runs as the text does.
    const [, , [endX, endY], [fromX, fromY]] = box as [number, number][] as [
      never,
      never,
      [number, number],
      [number, number],
    ];
    expect(Math.hypot(fromX - x, fromY - y)).toBeLessThan(size / 2);
    expect(Math.cos(Math.atan2(endY - fromY, endX - fromX) - turn)).toBeGreaterThan(0.995);
  }
  const context = createCanvas(460, 320).getContext('2d');
  context.drawImage(await loadImage(result.drawn), 0, 0);
  for (const { box } of result.lines) {
    const [x, y] = [0, 1].map((axis) => Math.round(((box[2]?.[axis] ?? 0) + (box[3]?.[axis] ?? 0)) / 2)) as [
      number,
      number,
    ];
    const [red = 0, green = 0] = context.getImageData(x, y, 1, 1).data;
    expect(red - green).toBeGreaterThan(60);
  }
});

test(
  'watches a folder: what is there, what comes, and what is no picture yet; Ctrl-C ends it',
  { timeout: 120_000 },
  async () => {
    const watched = join(folder, 'watched');
    await mkdir(watched);
    await writeFile(join(watched, 'a.png'), 'not yet');
    const end = new AbortController();
    const running = run(['--backend', 'wasm', '--watch', '--draw', watched, watched], end.signal);
    await setTimeout(300);
    await copyFile(join(folder, 'sign.jpg'), join(watched, 'b.jpg'));
    for (let turn = 0; turn < 600 && !(await readdir(watched)).includes('b.ocr.png'); turn++) await setTimeout(100);
    end.abort();
    const { code, stdout, stderr } = await running;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^error: \S+a\.png is no picture, or a damaged one: [^\n]+ \(NO_PICTURE\)\n$/);
    expect(stdout).toMatch(/ 9\d %  \d+,\d+ +Invoice ?20417\n/);
    expect(stdout).toMatch(/b\.jpg: 5 lines in \d+ ms on wasm; \S+b\.ocr\.png\n$/);
  },
);

test('what is wrong is said in one line', async () => {
  const cut = join(folder, 'cut.png');
  await writeFile(cut, (await readFile(SIGN)).subarray(0, 20));
  for (const [args, text] of [
    [[join(folder, 'none.png')], /^error: there is no \S+none\.png \(CANNOT_READ\)\n$/],
    [[cut], /^error: \S+cut\.png is no picture, or a damaged one: [^\n]+ \(NO_PICTURE\)\n$/],
    [['--watch', SIGN], /^error: --watch takes one folder \(USAGE\)\nhint: [^\n]+\n$/],
    [[], /^error: missing required argument 'path' \(USAGE\)\n/],
  ] as const) {
    const ended = await run(['--backend', 'wasm', ...args]);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(text) });
  }
  expect(await run([SIGN], AbortSignal.abort())).toEqual({ code: 130, stdout: '', stderr: '' });
});
