import type { CheckedRun } from '@concord/backend-core/kernel';
import { formKey, phasesOf, runAxes } from '@concord/kernel';
import { RecentlyUsed } from '../common/recently-used.ts';
import type { WasmTraits } from '../kernel.ts';
import { type EmittedRun, emitRun } from './emit.ts';
import { names } from './form.ts';
import { type FormedCommand, formMap } from './plan-map.ts';
import { formRows } from './plan-rows.ts';
import { wordsOf } from './words.ts';

/** One command of a planned `run`. */
export interface PlannedCommand {
  readonly emitted: EmittedRun;
  /** Those that do not change from call to call; the others are 0. */
  readonly words: Uint32Array;
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
}

/** Points of a tile: fewer are not worth the sharing out, more leave threads idle at the end. */
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
    if (phasesOf(geometry.kernel).folds.length > 0) {
      const { threads } = this.#traits;
      const rows = formRows(geometry, axes, { threads, perThread: TILES_PER_THREAD });
      return { ...rows, commands: rows.commands.map((command) => this.#plan(command)) };
    }
    const maps = (['element', 'row'] as const).map((level) => formMap(geometry, axes, level));
    const commands = maps.filter((map) => map !== undefined).map((map) => this.#plan(map));
    return { commands, temporaryBytes: 0, states: new Map() };
  }

  #plan({ form, words, items, points, scratchBytes }: FormedCommand): PlannedCommand {
    const tilePoints = Math.min(MOST_TILE, Math.max(LEAST_TILE, points / (TILES_PER_THREAD * this.#traits.threads)));
    const perTile = Math.max(1, Math.floor((tilePoints * items) / Math.max(1, points)));
    const emitted = this.#emitted.get(formKey(form), () => emitRun(form, this.#traits));
    const all = new Map([...words, [names.items, items] as const, [names.perTile, perTile] as const]);
    return { emitted, words: wordsOf(emitted.words, all), tiles: Math.ceil(items / perTile), scratchBytes };
  }
}
