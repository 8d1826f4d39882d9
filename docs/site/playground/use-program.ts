import { onBeforeUnmount, reactive, ref, type Ref, type ShallowRef, shallowRef } from 'vue';
import type { BackendName } from './backend-names.ts';
import type { Fault } from './kernel/fault.ts';
import type { GraphView } from './kernel/graph-view.ts';
import { type JudgedOutput, verdictOf } from './kernel/judge.ts';
import type { Output, Picture, SliderRange } from './kernel/program-api.ts';
import type { RunProgress, RunResult, WgslView } from './kernel/run-program.ts';
import { startProgram } from './sandbox.ts';
import { Stopped, type Task } from './task.ts';

/** A picture of a program, under its label. */
export type ShownPicture = Extract<Output, { kind: 'picture' }>;

/** A program that a page runs, and what came of it. */
export interface Program {
  readonly status: Ref<string>;
  readonly running: ShallowRef<Task<RunResult> | undefined>;
  readonly fault: ShallowRef<Fault | undefined>;
  readonly graph: ShallowRef<GraphView | undefined>;
  readonly wgsl: ShallowRef<WgslView | undefined>;
  readonly values: ShallowRef<Extract<RunProgress, { kind: 'values' }> | undefined>;
  readonly judged: ShallowRef<readonly JudgedOutput[]>;
  /** What it wrote, a line for each call. */
  readonly lines: Ref<string[]>;
  readonly pictures: ShallowRef<ReadonlyMap<string, ShownPicture>>;
  /** The sliders that it asked for, and where they stand. */
  readonly sliders: Map<string, SliderRange>;
  run(source: string, backend: BackendName, picture: Picture): Promise<void>;
  /** Ends a run and forgets what came of it, and the sliders. */
  clear(): void;
}

/** Lines that are kept. */
const MAX_LINES = 500;

/** The state of a program for a component; a run ends with it. */
export function useProgram(): Program {
  const status = ref('Nothing has run yet.');
  const [running, fault, graph, wgsl, values] = [
    shallowRef<Task<RunResult>>(),
    shallowRef<Fault>(),
    shallowRef<GraphView>(),
    shallowRef<WgslView>(),
    shallowRef<Extract<RunProgress, { kind: 'values' }>>(),
  ];
  const judged = shallowRef<readonly JudgedOutput[]>([]);
  const lines = ref<string[]>([]);
  const pictures = shallowRef<ReadonlyMap<string, ShownPicture>>(new Map());
  const sliders = reactive(new Map<string, SliderRange>());
  onBeforeUnmount(() => running.value?.stop());

  function forget(): void {
    for (const each of [fault, graph, wgsl, values]) each.value = undefined;
    [judged.value, lines.value] = [[], []];
  }

  function take(progress: RunProgress | Output): void {
    if (progress.kind === 'graph') graph.value = progress.graph;
    else if (progress.kind === 'wgsl') wgsl.value = progress.wgsl;
    else if (progress.kind === 'text') lines.value = [...lines.value, progress.text].slice(-MAX_LINES);
    else if (progress.kind === 'picture') pictures.value = new Map(pictures.value).set(progress.label, progress);
    else if (progress.kind === 'slider') {
      if (!sliders.has(progress.name)) sliders.set(progress.name, progress.range);
    } else {
      values.value = progress;
      status.value = `Computed by ${progress.device}; comparing with the oracle`;
    }
  }

  async function run(source: string, backend: BackendName, picture: Picture): Promise<void> {
    running.value?.stop();
    forget();
    status.value = `Running on ${backend}`;
    const moved = Object.fromEntries([...sliders].map(([name, { value }]) => [name, value]));
    const started = new Map(pictures.value);
    const task = startProgram({ source, picture, backend, sliders: moved }, (progress) => {
      if (running.value === task) take(progress);
    });
    running.value = task;
    try {
      const result = await task.result;
      fault.value = result.fault;
      judged.value = result.outputs ?? [];
      if (result.fault !== undefined) status.value = 'The program has a mistake';
      else status.value = judged.value.length === 0 ? 'Done' : verdictOf(judged.value);
      // Those of the run before that this one no longer shows.
      const kept = [...pictures.value].filter(([label, shown]) => started.get(label) !== shown);
      pictures.value = new Map(kept);
    } catch (error) {
      if (running.value !== task) return;
      if (error instanceof Stopped) status.value = 'Stopped';
      else [fault.value, status.value] = [{ message: (error as Error).message }, 'That did not work'];
    } finally {
      if (running.value === task) running.value = undefined;
    }
  }

  function clear(): void {
    running.value?.stop();
    forget();
    pictures.value = new Map();
    sliders.clear();
    status.value = 'Nothing has run yet.';
  }
  return { status, running, fault, graph, wgsl, values, judged, lines, pictures, sliders, run, clear };
}
