import { DTYPES } from '@concord/backend-core';
import type { ResolvedRun, RunKernel } from '@concord/backend-core/implement';
import type { CheckedRun } from '@concord/backend-core/kernel';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { bitsOf } from '../common/arguments.ts';
import { operandAddress } from '../common/operand-address.ts';
import type { Launcher } from '../kernel.ts';
import { names } from './form.ts';
import { type PlannedCommand, type RunPlan, RunPlanner } from './plan.ts';

/** A word of a command that a call fills in: its place and its kind. */
interface Fill {
  readonly slot: number;
  readonly kind: 'input' | 'output' | 'parameter' | 'states';
  /** Of the operand or parameter; of states their place in the plan's memory. */
  readonly index: number;
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
    prepare: (geometry) => {
      planOf(geometry);
      return Promise.resolve();
    },
    run: (call) => launchPlan(launcher, planOf(call.geometry), call),
  };
}

function launchPlan(launcher: Launcher, { plan, commands }: ReadyPlan, call: ResolvedRun<WasmBuffer>): void {
  const states = plan.temporaryBytes === 0 ? 0 : launcher.temporary(plan.temporaryBytes);
  for (const { emitted, words, tiles, scratchBytes, fills } of commands) {
    for (const { slot, kind, index } of fills) words[slot] = valueOf(call, kind, index, states);
    launcher.launch({ code: emitted.code, words, tiles, scratchBytes });
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

function fillsOf({ kernel }: CheckedRun, { states }: RunPlan, { emitted }: PlannedCommand): readonly Fill[] {
  const known = new Map<string, Omit<Fill, 'slot'>>([
    ...kernel.inputs.map((_, index) => [names.input(index), { kind: 'input', index }] as const),
    ...kernel.outputs.map((_, index) => [names.output(index), { kind: 'output', index }] as const),
    ...kernel.params.map((_, index) => [names.parameter(index), { kind: 'parameter', index }] as const),
    ...[...states].map(([name, index]) => [name, { kind: 'states', index }] as const),
  ]);
  return emitted.words.flatMap((name, slot) => {
    const fill = known.get(name);
    return fill === undefined ? [] : [{ slot, ...fill }];
  });
}
