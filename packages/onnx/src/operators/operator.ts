import type { ElementType, HostTensor } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import type { Value } from '../run/value.ts';
import type { Formula } from './elements.ts';

/** An operator of the table. It has `run`, `host` or `flow`, or both of the first two. */
export interface Operator {
  /** Queues the work on the device. It must not wait: `call.host` and what reads by it have the call made again. */
  readonly run?: (call: Call) => Results;
  /** Computes on the host, where all inputs are there and small, or where there is no `run`. */
  readonly host?: (call: Call) => HostTensor | readonly HostTensor[];
  /** Runs graphs of its attributes. What it yields is on the host when it goes on. */
  readonly flow?: (call: Call) => Generator<Value, Results>;
  /**
   * The operator's function of each element of floats, from its attributes alone, under a name with all that it depends
   * on.
   */
  readonly element?: (call: Call) => { readonly name: string; readonly formula: Formula };
  /** Inputs whose numbers the operator needs on the host, such as a shape. */
  readonly needs?: readonly number[];
  /** Element type of the results, where it is not that of input 0. */
  readonly type?: ElementType;
  /** Gives other results each time. */
  readonly isRandom?: true;
}

/** Operators by name, those of other domains than ONNX's own as `domain.name`; a function is an operator's `run`. */
export type Operators = Readonly<Record<string, Operator | NonNullable<Operator['run']>>>;
