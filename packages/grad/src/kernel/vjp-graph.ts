import type {
  FoldNode,
  GatherNode,
  Kernel,
  KernelNode,
  KernelOutput,
  Level,
  ScanNode,
} from '@concord/backend-core/kernel';
import { unsupported } from '../errors.ts';
import { DERIVATIVES, type Share } from './derivatives.ts';
import { Graph, isFiner, type Ref } from './graph.ts';

/** The gradient of one input, or of the elements that one gather reads; or without `input`, sums by index that the graph reads as an input. */
export interface Job {
  readonly name: string;
  readonly input?: string;
  readonly value: Ref;
  readonly level: 'row' | 'element';
  /** The places at which each value is added. */
  readonly indices?: readonly Ref[];
}

/** Names of what parts read and store. */
export interface Names {
  /** The input that holds the gradient of an output. */
  readonly gradientOf: (output: string) => string;
  /** The input that holds what an output that combines by max or min is afterwards. */
  readonly resultOf: (output: string) => string;
  /** The output that is the gradient of an input. */
  readonly nameOf: (input: string) => string;
}

/** A kernel's graph with the gradients of its inputs. */
export interface VjpGraph {
  readonly graph: Graph;
  readonly jobs: readonly Job[];
  /** Parameters that hold the size of an axis of a gather input: its name and the axis. */
  readonly sizes: ReadonlyMap<string, readonly [input: string, axis: number]>;
}

/**
 * The graph that gives the gradients of inputs from those of outputs. What depends on integers, truths, bits and random
 * numbers has none.
 *
 * @param rank - the number of axes of the domain, if it is known
 * @throws {BackendError} UNSUPPORTED for a scan of max or min without it
 */
export function vjpGraph(
  kernel: Kernel,
  wanted: ReadonlySet<string>,
  given: ReadonlySet<string>,
  names: Names,
  rank: number | undefined,
): VjpGraph {
  return new Backward(kernel, wanted, names, rank).run(given);
}

class Backward {
  readonly #graph = new Graph();
  readonly #kernel: Kernel;
  readonly #names: Names;
  readonly #rank: number | undefined;
  readonly #active: boolean[] = [];
  readonly #shares: Share[][] = [];
  readonly #jobs: Job[] = [];
  readonly #sizes = new Map<string, readonly [string, number]>();

  constructor(kernel: Kernel, wanted: ReadonlySet<string>, names: Names, rank: number | undefined) {
    this.#kernel = kernel;
    this.#names = names;
    this.#rank = rank;
    for (const node of kernel.nodes) {
      this.#graph.add(node);
      const reads = (node.kind === 'input' || node.kind === 'gather') && wanted.has(node.name);
      this.#active.push(node.type === 'f32' && (reads || valuesOf(node).some((operand) => this.#active[operand])));
      this.#shares.push([]);
    }
  }

  run(given: ReadonlySet<string>): VjpGraph {
    for (const output of this.#kernel.outputs) {
      if (given.has(output.name) && output.type === 'f32') this.#start(output);
    }
    for (let ref = this.#kernel.nodes.length - 1; ref >= 0; ref--) {
      const total = this.#total(ref);
      if (total !== undefined) this.#pass(ref, this.#kernel.nodes[ref] as KernelNode, total);
    }
    return { graph: this.#graph, jobs: this.#jobs, sizes: this.#sizes };
  }

  #start({ node, level, scatter, name }: KernelOutput): void {
    const g = this.#graph;
    const gradient = this.#names.gradientOf(name);
    if (scatter === undefined) return this.#give(node, level, { value: g.input(gradient, 'f32', level) });
    if (!this.#active[node]) return;
    const { mode, indices } = scatter;
    const value = this.#at(level, g.gather(gradient, indices, g.f32(0)));
    const isCombined = mode === 'max' || mode === 'min';
    const mask = isCombined ? g.same(node, g.gather(this.#names.resultOf(name), indices, g.f32(0))) : undefined;
    this.#give(node, level, { value, mask });
  }

  /** Adds the share of a node of that level to the gradient of one that it was computed from. */
  #give(to: Ref, from: Level, share: Share | undefined): void {
    if (share === undefined || !this.#active[to]) return;
    const g = this.#graph;
    // One value that many elements were computed from gets what each of them gives. One of the whole call, which only a gather at fixed
    // places is, gets what each row gives, and is summed where that is added.
    const own = g.at(to).level;
    const isShared = isFiner(from, own === 'call' ? this.#coarsest : own);
    const summed = isShared ? { value: g.fold('sum', g.spread(this.#masked(share))) } : share;
    (this.#shares[to] as Share[]).push(summed);
  }

  get #coarsest(): 'row' | 'element' {
    return this.#kernel.hasRows ? 'row' : 'element';
  }

  /** A value at least as fine as a level. */
  #at(level: Level, value: Ref): Ref {
    const g = this.#graph;
    if (!isFiner(level, g.at(value).level)) return value;
    return level === 'element' ? g.spread(value) : g.fold('max', g.spread(value));
  }

  #masked({ value, mask }: Share): Ref {
    return mask === undefined ? value : this.#graph.op('select', mask, value, this.#graph.f32(0));
  }

  /** All that a node was given; where everything is masked, so is the sum. */
  #total(ref: Ref): Share | undefined {
    const shares = this.#shares[ref] as Share[];
    const [first, ...others] = shares;
    if (first === undefined || others.length === 0) return first;
    const g = this.#graph;
    if (others.every(({ mask }) => mask === first.mask)) {
      return { value: others.reduce((sum, { value }) => g.op('add', sum, value), first.value), mask: first.mask };
    }
    const value = others.reduce((sum, share) => g.op('add', sum, this.#masked(share)), this.#masked(first));
    const masks = shares.map(({ mask }) => mask);
    if (masks.includes(undefined)) return { value };
    return { value, mask: (masks as Ref[]).reduce((all, mask) => g.op('or', all, mask)) };
  }

  #pass(ref: Ref, node: KernelNode, total: Share): void {
    const inside = (share: Share | Ref | undefined): Share | undefined => {
      if (share === undefined) return undefined;
      const { value, mask } = typeof share === 'number' ? { value: share, mask: undefined } : share;
      const both = mask !== undefined && total.mask !== undefined ? this.#graph.op('and', total.mask, mask) : undefined;
      return { value, mask: both ?? mask ?? total.mask };
    };
    switch (node.kind) {
      case 'input':
        this.#add(node.name, { value: this.#masked(total), level: node.level as 'row' });
        return;
      case 'gather':
        return this.#gather(node, total, inside);
      case 'spread':
        return this.#give(node.operands[0], 'element', total);
      case 'fold':
        return this.#give(node.operands[0], 'element', inside(this.#fold(ref, node, total.value)));
      case 'scan':
        return this.#give(node.operands[0], 'element', this.#scan(ref, node, this.#masked(total)));
      case 'arithmetic': {
        const [x = 0, y = 0, z = 0] = node.operands;
        const shares = DERIVATIVES[node.op]?.(this.#graph, total.value, ref, x, y, z) ?? [];
        for (const [index, share] of shares.entries()) {
          this.#give(node.operands[index] as Ref, node.level, inside(share));
        }
        return;
      }
      default:
    }
  }

  #add(input: string, job: Omit<Job, 'name' | 'input'>): void {
    this.#jobs.push({ name: this.#names.nameOf(input), input, ...job });
  }

  #gather(node: GatherNode, total: Share, inside: (share: Share) => Share | undefined): void {
    const [otherwise = 0, ...indices] = node.operands;
    const g = this.#graph;
    // Of one value for all elements each is added.
    const level = node.level === 'call' ? this.#coarsest : node.level;
    const value = this.#at(level, this.#masked(total));
    this.#add(node.name, { value, level, indices });
    if (!this.#active[otherwise]) return;
    const isInside = indices.map((index, axis) => {
      const name = `size of ${node.name} ${axis}`;
      this.#sizes.set(name, [node.name, axis]);
      const size = g.add({ kind: 'parameter', type: 'u32', level: 'call', name });
      if (g.at(index).type === 'u32') return g.op('lt', index, size);
      return g.op('and', g.op('ge', index, g.constant('i32', 0)), g.op('lt', g.op('toU32', index), size));
    });
    const mask = g.op(
      'not',
      isInside.reduce((all, each) => g.op('and', all, each)),
    );
    this.#give(otherwise, node.level, inside({ value: total.value, mask }));
  }

  /** The number of elements of a row. */
  #count(mask: Ref): Ref {
    return this.#graph.op('toF32', this.#graph.fold('count', this.#graph.spread(mask)));
  }

  #fold(ref: Ref, { op, operands: [x] }: FoldNode, d: Ref): Share | undefined {
    const g = this.#graph;
    if (op === 'sum') return { value: d };
    if (op === 'mean') return { value: g.op('div', d, this.#count(g.constant('bool', 1))) };
    if (op === 'max' || op === 'min') {
      const mask = g.same(x, ref);
      return { value: g.op('div', d, this.#count(mask)), mask };
    }
    if (op !== 'product') return undefined;
    // Beside one zero only its own element has a gradient, beside two none has.
    const isZero = g.op('eq', x, g.f32(0));
    const zeros = g.fold('count', g.spread(isZero));
    const others = g.fold('product', g.spread(g.op('select', isZero, g.f32(1), x)));
    const alone = g.op('eq', zeros, g.op('select', isZero, g.constant('u32', 1), g.constant('u32', 0)));
    const rest = g.op('select', isZero, others, g.op('div', others, x));
    return { value: g.op('mul', d, rest), mask: alone };
  }

  #scan(ref: Ref, { op, operands: [x], exclusive, reverse }: ScanNode, d: Ref): Share {
    const g = this.#graph;
    const back = { exclusive, reverse: !reverse };
    if (op === 'sum') return { value: g.scan('sum', d, back) };
    if (op !== 'product') return { value: this.#found(ref, x, d, { op, reverse, exclusive }) };
    // What comes before the first zero of a row is divided out; of that itself, the products are computed without it.
    const isZero = g.op('eq', x, g.f32(0));
    const one = g.op('select', isZero, g.constant('u32', 1), g.constant('u32', 0));
    const before = g.scan('sum', one, { exclusive: true, reverse });
    const isAfter = g.op('ne', before, g.constant('u32', 0));
    const isFirst = g.op('and', isZero, g.op('not', isAfter));
    const without = g.scan('product', g.op('select', isFirst, g.f32(1), x), { exclusive, reverse });
    const own = g.scan('sum', g.op('mul', d, without), back);
    const others = g.scan('sum', g.op('mul', d, ref), back);
    return { value: g.op('select', isZero, own, g.op('div', others, x)), mask: g.op('not', isAfter) };
  }

  /** What the elements that a scan of max or min found pass back: each one that is not less than all before it, until the next. */
  #found(ref: Ref, x: Ref, d: Ref, { op, exclusive, reverse }: Pick<ScanNode, 'op' | 'exclusive' | 'reverse'>): Ref {
    const g = this.#graph;
    if (this.#rank === undefined) {
      const { name } = this.#kernel;
      throw unsupported(name, `a scan of ${op} needs the rank of the domain`, 'give vjpKernel the option rank');
    }
    let own = g.add({ kind: 'index', type: 'u32', level: 'element', axis: 0 });
    for (let axis = 1; axis < this.#rank; axis++) {
      const size = g.add({ kind: 'extent', type: 'u32', level: 'call', axis });
      const index = g.add({ kind: 'index', type: 'u32', level: 'element', axis });
      own = g.op('add', g.op('mul', own, size), index);
    }
    const isFound = g.op('or', g.op(op === 'max' ? 'ge' : 'le', x, ref), g.op('isNan', x));
    // The last one has the highest place, or backwards the lowest. Where there is none it is outside.
    const [most, last] = [g.constant('u32', 2 ** 32 - 1), g.constant('u32', 1)];
    const marked = reverse
      ? g.op('select', isFound, own, most)
      : g.op('select', isFound, g.op('add', own, last), g.constant('u32', 0));
    const found = g.scan(reverse ? 'min' : 'max', marked, { exclusive, reverse });
    const name = `value ${this.#graph.nodes.length} by place`;
    const indices = [reverse ? found : g.op('sub', found, last)];
    this.#jobs.push({ name, value: g.spread(d), level: 'element', indices });
    return g.input(name, 'f32', 'element');
  }
}

/** The operands whose values a node's gradient goes to. */
function valuesOf(node: KernelNode): readonly number[] {
  if (!('operands' in node)) return [];
  return node.kind === 'gather' ? [node.operands[0] as number] : node.operands;
}
