import { WebGpuBackend } from '@concord/backend-webgpu';
import { median } from '@concord/cli/bench';
import type { Decoder } from '@concord/example-lm';
import { empty, tensor, type Tensor } from '@concord/ops';
import { parseArgs } from 'node:util';
import { startDevice } from './device.ts';
import { GPT_SIZES, type GptSize, gptWeights } from './gpt/cases.ts';
import { gpt2, recordToken } from './gpt/concord.ts';
import { oneOf, positive } from './options.ts';
import { row, table } from './table.ts';

/** WebGPU's calls of one launch besides its dispatch, whose time is the engine's and not ours. */
const REPLACED = ['setPipeline', 'setBindGroup'] as const;

/** Native calls that a warm launch should do without. */
const COUNTED = ['createBindGroup', 'createBuffer'] as const;

/** The same of its queue. */
const QUEUED = ['writeBuffer', 'submit'] as const;

/** How often something was called since it was last asked. */
export type NativeCounts = Readonly<
  Record<'dispatchWorkgroups' | (typeof COUNTED)[number] | (typeof QUEUED)[number], number>
>;

/** Puts functions in the place of a device's native calls. */
export interface NativeCalls {
  /** The counts since the last time, which begin at 0 again. */
  take(): NativeCounts;
  /** Puts the device's own functions back. */
  restore(): void;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Makes the calls that passes consist of do nothing on all devices of the engine, and counts them and others that cost the host
 * time. Nothing is computed from then on.
 */
export function replaceNativeCalls(device: GPUDevice): NativeCalls {
  const counts: Record<string, number> = {};
  const restores: (() => void)[] = [];
  let dispatches = 0;
  const replace = (target: object, name: string, by: (own: Method) => Method): void => {
    const own = Reflect.get(target, name) as Method;
    Object.defineProperty(target, name, { value: by(own), configurable: true, writable: true });
    restores.push(() => Object.defineProperty(target, name, { value: own, configurable: true, writable: true }));
  };
  const counted = (name: string) => (own: Method) =>
    function (this: unknown, ...args: unknown[]): unknown {
      counts[name] = (counts[name] ?? 0) + 1;
      return own.apply(this, args);
    };
  const pass = device.createCommandEncoder().beginComputePass();
  const passes = Object.getPrototypeOf(pass) as object;
  // These are called with each launch: they must take no time of their own.
  for (const name of REPLACED) replace(passes, name, () => () => undefined);
  replace(passes, 'dispatchWorkgroups', () => () => void dispatches++);
  for (const name of COUNTED) replace(Object.getPrototypeOf(device) as object, name, counted(name));
  for (const name of QUEUED) replace(Object.getPrototypeOf(device.queue) as object, name, counted(name));
  return {
    take() {
      const named = [...COUNTED, ...QUEUED].map((name) => [name, counts[name] ?? 0]);
      const taken = { dispatchWorkgroups: dispatches, ...Object.fromEntries(named) } as NativeCounts;
      dispatches = 0;
      for (const name of Object.keys(counts)) delete counts[name];
      return taken;
    },
    restore: () => restores.splice(0).forEach((restore) => restore()),
  };
}

/** Addresses that each work takes turns with. */
const PLACES = 3;

/** What our own JavaScript takes of a launch. */
export interface CallTime {
  readonly work: string;
  readonly launches: number;
  /** A launch; the median of all rounds. */
  readonly micros: number;
  /** The same in turns of the yardstick. */
  readonly yardsticks: number;
  /** Native calls a launch that cost the host time. */
  readonly native: Omit<NativeCounts, 'dispatchWorkgroups'>;
}

/** A work that is timed, and how often each is called in a round. */
interface Work {
  readonly name: string;
  readonly calls: number;
  /** @param turn - which of the places and sizes it takes */
  readonly call: (turn: number) => void;
}

/**
 * Times what our own JavaScript takes of a launch of GPT-2 on WebGPU: native calls of passes are replaced by functions that do
 * nothing. Options: see the help in main.ts.
 *
 * @returns true
 */
export async function benchCalls(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: 'string' },
      size: { type: 'string', default: 'small' },
      rounds: { type: 'string', default: '15' },
      json: { type: 'boolean', default: false },
    },
  });
  const size = GPT_SIZES[oneOf('--size', values.size, Object.keys(GPT_SIZES))] as GptSize;
  const rounds = positive('--rounds', values.rounds);
  const device = await startDevice(values.device);
  const backend = new WebGpuBackend({ dawn: {} });
  await backend.init();
  const times = await measureCalls(backend, size, rounds);
  await backend.dispose();
  if (values.json) console.log(JSON.stringify({ device: device.name, size: values.size, times }));
  else console.log(`GPT-2 (${values.size}) on ${device.name}\n\n${formatCalls(times)}`);
  return true;
}

/** The times as a Markdown table. */
export function formatCalls(times: readonly CallTime[]): string {
  const head = ['work', 'launches', 'us a launch', 'yardsticks', ...Object.keys((times[0] as CallTime).native)];
  const rows = times.map(({ work, launches, micros, yardsticks, native }) =>
    row(
      work,
      `${launches}`,
      micros.toFixed(2),
      yardsticks.toFixed(0),
      ...Object.values(native).map((count) => count.toFixed(3)),
    ),
  );
  return table(head, rows);
}

async function measureCalls(backend: WebGpuBackend, size: GptSize, rounds: number): Promise<CallTime[]> {
  const model = await untrainedModel(backend, size);
  const { works, close } = gptWorks(backend, model, size);
  // Plans are made and shaders built before the passes are emptied.
  for (const { call } of works) for (let turn = 0; turn < 2 * PLACES; turn++) call(turn);
  await backend.synchronize();
  const native = replaceNativeCalls(backend.native.device);
  try {
    const times: CallTime[] = [];
    for (const work of works) times.push(await timeWork(backend, native, work, rounds));
    return times;
  } finally {
    native.restore();
    close();
    model.dispose();
  }
}

async function timeWork(
  backend: WebGpuBackend,
  native: NativeCalls,
  { name, calls, call }: Work,
  rounds: number,
): Promise<CallTime> {
  const micros: number[] = [];
  const yardsticks: number[] = [];
  const counted: NativeCounts[] = [];
  let turn = 0;
  // The first half makes the engine compile what is hot.
  for (let round = -rounds; round < rounds; round++) {
    native.take();
    const start = performance.now();
    for (let i = 0; i < calls; i++) call(turn++);
    const elapsed = performance.now() - start;
    await backend.synchronize();
    if (round < 0) continue;
    const counts = native.take();
    counted.push(counts);
    micros.push((1000 * elapsed) / counts.dispatchWorkgroups);
    yardsticks.push(yardstickMicros());
  }
  const sumOf = (key: keyof NativeCounts): number => counted.reduce((sum, counts) => sum + counts[key], 0);
  const launches = sumOf('dispatchWorkgroups');
  const { dispatchWorkgroups: _, ...others } = counted[0] as NativeCounts;
  const each = Object.keys(others).map((key) => [key, sumOf(key as keyof NativeCounts) / launches]);
  const time = median(micros);
  return {
    ...{ work: name, launches: Math.round(launches / (rounds * calls)) },
    ...{ micros: time, yardsticks: time / median(yardsticks) },
    native: Object.fromEntries(each) as CallTime['native'],
  };
}

/** A model whose weights are not written: nothing is computed while it is timed. */
async function untrainedModel(backend: WebGpuBackend, { config }: GptSize): Promise<Decoder> {
  const weights: Record<string, Tensor> = {};
  for (const { name, shape } of gptWeights(config)) weights[name] = empty(backend, shape);
  await backend.synchronize();
  return gpt2(backend, config, weights);
}

/** A prompt through ops, and a token that is replayed, each from several places. */
function gptWorks(
  backend: WebGpuBackend,
  model: Decoder,
  { cached, prefills }: GptSize,
): { readonly works: readonly Work[]; readonly close: () => void } {
  const [, length] = prefills[0] as readonly [number, number];
  // Sizes take turns as well as places.
  const prompts = Array.from({ length: PLACES }, (_, place) => {
    const tokens = place % 2 === 0 ? length : length / 2;
    return { given: tensor(backend, new Uint32Array(tokens), [1, tokens]), cache: model.cache(1) };
  });
  const texts = Array.from({ length: PLACES }, () => {
    const given = tensor(backend, new Uint32Array(1), [1, 1]);
    const cache = model.cache(1);
    const replayed = recordToken(backend, model, 'pipelined', cached, given, cache);
    return { given, cache, replayed };
  });
  return {
    works: [
      {
        name: 'calls: a prompt through ops',
        calls: PLACES,
        call: (turn) => {
          const { given, cache } = prompts[turn % PLACES] as (typeof prompts)[number];
          model.forward(given, cache).dispose();
        },
      },
      {
        name: 'replay: a token',
        calls: 20 * PLACES,
        call: (turn) => (texts[turn % PLACES] as (typeof texts)[number]).replayed.replay(),
      },
    ],
    close() {
      for (const { replayed } of texts) replayed.dispose();
      for (const { given, cache } of [...prompts, ...texts]) {
        given.dispose();
        cache[Symbol.dispose]();
      }
    },
  };
}

/** Turns of the loop that one measurement takes. */
const TURNS = 200_000;

/**
 * Microseconds of one turn of a fixed loop: an object with eight fields is made, found in a table by a number, and added up. Other
 * times of the same process are told as multiples of it, which hold on any machine.
 */
export function yardstickMicros(): number {
  const known = new Map<number, { readonly size: number }>();
  for (let key = 0; key < 512; key++) known.set(key * 7919, { size: key });
  let sum = 0;
  const start = performance.now();
  for (let turn = 0; turn < TURNS; turn++) {
    const found = known.get((turn % 512) * 7919);
    const made = { a: turn, b: found, c: sum, d: turn + 1, e: turn + 2, f: turn + 3, g: found, h: 0 };
    sum += (made.b?.size ?? 0) + (made.d & made.f);
  }
  const micros = (1000 * (performance.now() - start)) / TURNS;
  // Else the loop could be left out.
  if (sum === 0) throw new Error('the sum of the yardstick is 0');
  return micros;
}
