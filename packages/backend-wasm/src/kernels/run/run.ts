import { DTYPES } from '@concord/backend-core';
import type { ResolvedRun, RunKernel } from '@concord/backend-core/implement';
import type { CheckedRun } from '@concord/backend-core/kernel';
import { formKey, partFoldsOf, runAxes } from '@concord/kernel';
import type { Launcher, WasmBuffer, WasmTraits } from '../kernel.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { RecentlyUsed } from '../common/code-cache.ts';
import { emitRun, type EmittedRun } from './emit.ts';
import { names } from './form.ts';
import { type FormedCommand, formMap } from './plan-map.ts';
import { formRows } from './plan-rows.ts';
import { argumentsOf } from './words.ts';

/** One command of a planned `run`. */
export interface PlannedCommand {
  readonly emitted: EmittedRun;
  /** The arguments that do not change from call to call; the others are 0. */
  readonly args: Uint32Array;
  readonly tiles: number;
  /** Bytes that each thread needs for itself. */
  readonly scratchBytes: number;
}

/** A planned `run`: its commands, and the memory that they share. */
export interface RunPlan {
  readonly commands: readonly PlannedCommand[];
  readonly temporaryBytes: number;
  /** The place of the states of each phase in that memory. */
  readonly states: ReadonlyMap<string, number>;
  /** Bytes from an operand's first element to that which is walked from; of inputs, then of outputs. Default: 0. */
  readonly offsets?: readonly number[];
}

/** Tile size bounds: scheduling cost against load balance. */
const LEAST_TILE = 8192;
const MOST_TILE = 65_536;
/** Tiles for each thread, where there is enough to do. */
const TILES_PER_THREAD = 4;

/** Makes plans. Emitted code is kept by its form, while it is among the recently used. */
export class RunPlanner {
  readonly #traits: WasmTraits;
  readonly #emitted = new RecentlyUsed<EmittedRun>();

  constructor(traits: WasmTraits) {
    this.#traits = traits;
  }

  /** The commands of a call: rows if the kernel folds, else a map for the outputs of elements and one for the outputs of rows. */
  plan(geometry: CheckedRun): RunPlan {
    const axes = runAxes(geometry);
    if (partFoldsOf(geometry.kernel).length > 0) {
      const { threads } = this.#traits;
      const rows = formRows(geometry, axes, { threads, perThread: TILES_PER_THREAD });
      return { ...rows, commands: rows.commands.map((command) => this.#plan(command)) };
    }
    const maps = (['element', 'row'] as const).map((level) => formMap(geometry, axes, level));
    const commands = maps.filter((map) => map !== undefined).map((map) => this.#plan(map));
    return { commands, temporaryBytes: 0, states: new Map() };
  }

  #plan({ form, args, items, points, scratchBytes }: FormedCommand): PlannedCommand {
    const tilePoints = Math.min(MOST_TILE, Math.max(LEAST_TILE, points / (TILES_PER_THREAD * this.#traits.threads)));
    const perTile = Math.max(1, Math.floor((tilePoints * items) / Math.max(1, points)));
    const emitted = this.#emitted.get(formKey(form), () => emitRun(form, this.#traits));
    const all = new Map([...args, [names.items, items] as const, [names.perTile, perTile] as const]);
    return { emitted, args: argumentsOf(emitted.argNames, all), tiles: Math.ceil(items / perTile), scratchBytes };
  }
}

/** A word of a command that a call fills in: its place and its kind. */
interface Fill {
  readonly slot: number;
  readonly kind: 'input' | 'output' | 'parameter' | 'states';
  /** The number of the operand or parameter; the place of states in the plan's memory. */
  readonly index: number;
  /** Bytes from where an operand begins. */
  readonly offset?: number;
}

interface ReadyCommand extends PlannedCommand {
  readonly fills: readonly Fill[];
}

interface ReadyPlan {
  readonly plan: RunPlan;
  readonly commands: readonly ReadyCommand[];
}

/** Kernels that programs write: loops of SIMD, emitted for each graph and each form of its operands. */
export function runKernel(launcher: Launcher): RunKernel<WasmBuffer> {
  const planner = new RunPlanner(launcher.traits);
  const plans = new WeakMap<CheckedRun, ReadyPlan>();
  const planOf = (geometry: CheckedRun): ReadyPlan => {
    let ready = plans.get(geometry);
    if (ready === undefined) {
      const plan = planner.plan(geometry);
      ready = {
        plan,
        commands: plan.commands.map((command) => ({ ...command, fills: fillsOf(geometry, plan, command) })),
      };
      plans.set(geometry, ready);
    }
    return ready;
  };
  return {
    dtypes: DTYPES,
    features: ['scatter', 'scan'],
    prepare: (geometry) => {
      planOf(geometry);
      return Promise.resolve();
    },
    run: (call) => launchPlan(launcher, planOf(call.geometry), call),
  };
}

function launchPlan(launcher: Launcher, { plan, commands }: ReadyPlan, call: ResolvedRun<WasmBuffer>): void {
  const states = plan.temporaryBytes === 0 ? 0 : launcher.temporary(plan.temporaryBytes);
  for (const { emitted, args, tiles, scratchBytes, fills } of commands) {
    for (const { slot, kind, index, offset = 0 } of fills) args[slot] = valueOf(call, kind, index, states) + offset;
    launcher.launch({ code: emitted.code, args, tiles, scratchBytes });
  }
}

function valueOf(call: ResolvedRun<WasmBuffer>, kind: Fill['kind'], index: number, states: number): number {
  if (kind === 'states') return states + index;
  if (kind === 'parameter') {
    const value = call.params[index] as number;
    return call.geometry.kernel.params[index]?.type === 'f32' ? bitsOf(value) : value;
  }
  return operandAddress((kind === 'input' ? call.inputs : call.outputs)[index]);
}

function fillsOf(
  { kernel }: CheckedRun,
  { states, offsets = [] }: RunPlan,
  { emitted }: PlannedCommand,
): readonly Fill[] {
  const known = new Map<string, Omit<Fill, 'slot'>>([
    ...kernel.inputs.map(
      (_, index) => [names.input(index), { kind: 'input', index, offset: offsets[index] ?? 0 }] as const,
    ),
    ...kernel.outputs.map((_, index) => {
      const offset = offsets[kernel.inputs.length + index] ?? 0;
      return [names.output(index), { kind: 'output', index, offset }] as const;
    }),
    ...kernel.params.map((_, index) => [names.parameter(index), { kind: 'parameter', index }] as const),
    ...[...states].map(([name, index]) => [name, { kind: 'states', index }] as const),
  ]);
  return emitted.argNames.flatMap((name, slot) => {
    const fill = known.get(name);
    return fill === undefined ? [] : [{ slot, ...fill }];
  });
}
