import { checkRun } from './check-run.ts';
import type { CheckedRun } from './checked-run.ts';
import type { Kernel } from './graph.ts';
import type { GatherView, RunShape, RunView } from './run-call.ts';

/** A program repeats few geometries; one that does not should not fill the memory with them. */
const MAX_KEPT = 64;

/** A geometry as somebody asked for it, and what the rules made of it. */
interface Known {
  readonly asked: AskedRun;
  readonly checked: CheckedRun;
}

/** A call without pointers and parameters, its lists copied: nobody can change them after they were checked. */
export interface AskedRun extends Omit<RunShape, 'kernel' | 'inputs' | 'outputs'> {
  readonly inputs: Readonly<Record<string, RunView | GatherView>>;
  readonly outputs: Readonly<Record<string, RunView>>;
}

const known = new WeakMap<Kernel, Known[]>();

/**
 * The checked geometry of a call; the same object for the same geometry.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkedRun(kernel: Kernel, asked: AskedRun): CheckedRun {
  let list = known.get(kernel);
  if (list === undefined) {
    list = [];
    known.set(kernel, list);
  }
  const index = list.findIndex((entry) => isSame(kernel, entry.asked, asked));
  const found = list[index];
  if (index === 0 && found !== undefined) return found.checked;
  const entry = found ?? knownOf(kernel, copyOf(asked), list);
  if (found !== undefined) list.splice(index, 1);
  else if (list.length === MAX_KEPT) list.pop();
  list.unshift(entry);
  return entry.checked;
}

/** What was asked for in other words, such as with the strides that are the default, is the same object too. */
function knownOf(kernel: Kernel, asked: AskedRun, list: readonly Known[]): Known {
  const checked = checkRun(kernel, asked);
  const same = list.find((entry) => isSameGeometry(entry.checked, checked));
  return { asked, checked: same?.checked ?? checked };
}

function isSameGeometry(a: CheckedRun, b: CheckedRun): boolean {
  return (
    a.folded === b.folded &&
    isSameList(a.shape, b.shape) &&
    a.inputs.every((input, index) => isSameView(input, b.inputs[index])) &&
    a.outputs.every((output, index) => isSameView(output, b.outputs[index]))
  );
}

function copyOf({ shape, folded, inputs, outputs }: AskedRun): AskedRun {
  return { shape: copyOfList(shape), folded, inputs: copyOfViews(inputs), outputs: copyOfViews(outputs) } as AskedRun;
}

function copyOfViews(views: Readonly<Record<string, RunView | GatherView>>): Record<string, RunView> {
  return Object.fromEntries(
    Object.entries(views).map(([name, { strides, dtype, shape }]: [string, Partial<GatherView>]) => [
      name,
      { strides: copyOfList(strides), dtype, shape: copyOfList(shape) } as RunView,
    ]),
  );
}

function copyOfList<T>(value: T): T {
  return Array.isArray(value) ? (Array.from(value as unknown[]) as T) : value;
}

function isSame(kernel: Kernel, a: AskedRun, b: AskedRun): boolean {
  return (
    a.folded === b.folded &&
    isSameList(a.shape, b.shape) &&
    kernel.inputs.every(({ name }) => isSameView(a.inputs[name], b.inputs[name])) &&
    kernel.outputs.every(({ name }) => isSameView(a.outputs[name], b.outputs[name]))
  );
}

function isSameView(a: RunView | GatherView | undefined, b: RunView | GatherView | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.dtype === b.dtype &&
    isSameList(a.strides, b.strides) &&
    isSameList((a as GatherView).shape, (b as GatherView).shape)
  );
}

function isSameList(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  if (a === b) return true;
  // What is no list is left for the rules to refuse.
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
