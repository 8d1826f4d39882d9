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
  integer,
  type Program,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { edgePixels, picturePixels, planesOf, runSteps } from './filter-picture.ts';
import { checkSteps, filterSteps, marginOf, MAX_BLUR } from './filter-steps.ts';
import { type Picture, readPng, writePng } from './png-file.ts';

interface Options extends CommonOptions {
  readonly blur: number;
  readonly edges: boolean;
  readonly check?: boolean;
}

/** Filters a PNG. */
export const runProgram: Program = defineProgram<Options>({
  name: 'edges',
  description: 'Finds edges in a PNG, on whichever compute backend works best on this machine.',
  examples: [
    'edges photo.png edges.png',
    'edges --blur 2 --check photo.png edges.png',
    'edges --blur 3 --no-edges photo.png blurred.png',
  ],
  exitCodes: {
    failed: "--check found a value that is not the oracle's, or the device failed",
    usage: 'wrong arguments, or a file that cannot be read or written',
  },
  define: (command) =>
    command
      .argument('<in.png>', 'the picture')
      .argument('<out.png>', 'where the result goes; an existing file is overwritten')
      .option('--blur <radius>', `blur first, with a radius of 0 to ${MAX_BLUR} pixels`, integer(0, MAX_BLUR), 0)
      .option('--no-edges', 'only blur, in colour')
      .option('--check', 'filter again on the float64 oracle and compare'),
  run: async ([from = '', to = ''], options, context) => {
    const picture = await readPng(from);
    context.signal.throwIfAborted();
    return withBackend(options.backend, [{ op: 'conv2dForward' }], (backend) =>
      filterOn(backend, picture, to, options, context),
    );
  },
});

async function filterOn(
  backend: ComputeBackend,
  picture: Picture,
  to: string,
  { check = false, json, ...filters }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const { width, height } = picture;
  const steps = filterSteps(width, height, filters);
  const planes = planesOf(picture, marginOf(filters));
  const started = performance.now();
  const filtered = await runSteps(backend, steps, planes, { signal });
  const ms = performance.now() - started;
  await writePng(to, (filters.edges ? edgePixels : picturePixels)(filtered, width, height));
  const checked = check ? { check: checkSteps(steps, planes, filtered) } : {};
  const result = { output: to, width, height, convolutions: steps.length, ms, ...deviceFields(backend), ...checked };
  writeResult(stdout, json, result, () =>
    [
      `${to}: ${width} x ${height} pixels, ${counted(steps.length, 'convolution')} in ${ms.toFixed(1)} ms`,
      factLines({
        Backend: deviceText(backend),
        ...(checked.check === undefined ? {} : { Check: checkText(checked.check) }),
      }),
    ].join('\n'),
  );
  return (checked.check?.different ?? 0) === 0 ? EXIT.ok : EXIT.failed;
}

function checkText({ values, different }: ReturnType<typeof checkSteps>): string {
  const outcome = different === 0 ? 'passed' : `failed: ${different.toLocaleString('en')} differ`;
  return `${outcome}: ${values.toLocaleString('en')} values against the float64 oracle, bit for bit`;
}
