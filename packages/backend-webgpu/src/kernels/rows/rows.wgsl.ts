import { foldAt, foldsOf, FoldStates, outputsOf, type PhaseFold, type Scans, scansOf } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { WgslBlock, type WgslValue, widened } from '../arithmetic/wgsl-block.ts';
import type { Kernel } from '../kernel.ts';
import { coordinateAt, GraphScope, type PointSource, storedBits } from '../run/graph-scope.ts';
import {
  addressOf,
  defineGraphKernel,
  divided,
  loadAt,
  type RawValue,
  storeAt,
  type StoredValue,
} from '../run/operand-code.ts';
import { uniformsOf } from '../run/run-spec.ts';
import { foldVariables, mean, type OpenFold, openFolds, readVariables, ScratchCode, variablesOf } from './fold-code.ts';
import { FIRST_PLACE, placeName, type RowsSpec, stageUniforms, unrollOf } from './rows-spec.ts';
import { scanVectors } from './scan-code.ts';
import { lanesOf, setVariables, type State, TeamCode } from './team.ts';
import { TeamScan } from './team-scan.ts';

/**
 * A graph with folds. A team of lanes takes a row, or part of one; the folds of a phase are computed together, and those
 * of the next phase know them. Rows are kept in registers, or read again in each phase.
 */
export function rowsKernel(name: string, spec: RowsSpec): Kernel {
  const block = new WgslBlock();
  const code = new RowsCode(spec, block);
  code.write();
  const usesSubgroups = spec.team.subgroup > 0 && spec.team.team > 1;
  return defineGraphKernel(spec, {
    name,
    storage: spec.stage === undefined ? {} : { scratch: { access: 'read_write', type: 'array<u32>' } },
    uniforms: { ...uniformsOf(spec), ...stageUniforms(spec) },
    features: usesSubgroups ? ['subgroups'] : [],
    declarations: [code.declarations.join('\n')],
    lanes: lanesOf(spec.team),
    block,
  });
}

/** One vector of a row, or one step down a column, in generated code. */
interface Step {
  readonly scope: GraphScope;
  /** Coordinates along all axes: those of the row are in the operands' bases. */
  readonly coordinates: readonly (string | undefined)[];
  /** The condition that it is one of the row; undefined where it is for sure. */
  readonly inside: string | undefined;
  /** The values of scans at it. */
  readonly scans: Map<number, WgslValue>;
}

/** Writes the body of a kernel that computes rows. */
class RowsCode {
  readonly #spec: RowsSpec;
  readonly #block: WgslBlock;
  readonly #team: TeamCode;
  readonly #row: GraphScope;
  readonly #bases: string[] = [];
  readonly #rowCoordinates: string[] = [];
  readonly #isAcross: boolean;
  readonly #folds: Map<number, WgslValue> = new Map();
  readonly #scans: Scans | undefined;
  readonly #teamScan: TeamScan;

  constructor(spec: RowsSpec, block: WgslBlock) {
    this.#spec = spec;
    this.#block = block;
    this.#team = new TeamCode(spec.team);
    this.#isAcross = spec.along === 'rows';
    this.#scans = scansOf(spec.kernel);
    this.#teamScan = new TeamScan(spec.team, new FoldStates(this.#scans?.folds ?? []));
    this.#row = new GraphScope(spec, block, this.#sourceAt(block, []));
  }

  #sourceAt(
    block: WgslBlock,
    coordinates: readonly (string | undefined)[],
    scans: ReadonlyMap<number, WgslValue> = new Map(),
  ): PointSource {
    return {
      load: (input) => this.#load(block, input, coordinates),
      coordinate: (place) => this.#coordinate(block, place, coordinates),
      fold: (node) => (scans.get(node) ?? this.#folds.get(node)) as WgslValue,
    };
  }

  /** The code that the body needs at module scope. */
  get declarations(): readonly string[] {
    return [...this.#team.declarations, ...this.#teamScan.declarations];
  }

  write(): void {
    const { kernel, stage } = this.#spec;
    const folds = foldsOf(kernel);
    const block = this.#block;
    this.#placeRow();
    const kept = this.#spec.vectors === 0 ? undefined : this.#keptSteps();
    for (const [phase, phaseFolds] of folds.entries()) {
      if (stage !== undefined && phase > stage) break;
      const open = openFolds(phaseFolds);
      this.#hoist(phase);
      if (stage !== undefined && phase < stage) {
        const states = new ScratchCode(this.#spec, block).joinParts(phase, open);
        this.#close(open, states);
        continue;
      }
      const states = kept === undefined ? this.#foldInLoop(open) : this.#foldKept(open, kept);
      if (stage === undefined) {
        this.#close(open, states);
        continue;
      }
      const joined = this.#join(open, states);
      new ScratchCode(this.#spec, block).storeParts(phase, open, joined);
      return;
    }
    this.#hoist(folds.length);
    const scans = this.#scans;
    if (scans === undefined) this.#storeElements(kept);
    else if (stage === folds.length) {
      const open = openFolds(scans.folds);
      new ScratchCode(this.#spec, block).storeParts(stage, open, this.#join(open, this.#foldInLoop(open)));
      return;
    } else this.#scanElements(scans, kept, stage === undefined ? undefined : this.#joinBefore(scans));
    this.#storeRows();
  }

  /** Finds the row (or vector of rows) of the team, where its operands begin, and which steps are the workgroup's. */
  #placeRow(): void {
    const { rowRank, team, operands, stage } = this.#spec;
    const block = this.#block;
    block.add('let group = group_index(id, grid);');
    block.add('if (group >= u.group_count) { return; }');
    this.#team.place(block);
    if (stage === undefined) {
      block.add(`let row_number = group * ${team.rows}u + slot;`);
      block.add('let begin = 0u;');
      block.add('let end = u.steps;');
    } else {
      block.add('let part = group % u.parts;');
      block.add(`let row_number = group / u.parts * ${team.rows}u + slot;`);
      block.add('let begin = min(part * u.chunk, u.steps);');
      block.add('let end = min(begin + u.chunk, u.steps);');
    }
    block.add('let row = min(row_number, u.rows - 1u);');
    block.add('let is_row = row_number < u.rows;');
    this.#rowCoordinates.push(
      ...divided(
        block,
        'row',
        Array.from({ length: rowRank }, (_, axis) => axis),
      ),
    );
    for (const [index, { level }] of operands.entries()) {
      const own =
        level === 'gather' || level === 'scatter' ? '' : addressOf(this.#spec, index, this.#rowCoordinates).place;
      this.#bases.push(own === '' ? own : block.define(own));
    }
  }

  #hoist(depth: number): void {
    this.#row.hoist(['call', 'row'], depth);
  }

  #close(open: readonly OpenFold[], states: readonly State[]): void {
    const { math } = this.#row;
    for (const [index, state] of this.#join(open, states).entries()) {
      const fold = open[index] as OpenFold;
      this.#folds.set((fold.folds[0] as PhaseFold).index, fold.finish(math, state, { mean })[0] as WgslValue);
    }
  }

  /** The states of the team's lanes as one. */
  #join(open: readonly OpenFold[], states: readonly State[]): readonly State[] {
    return this.#team.reduce(this.#block, states, open);
  }

  #keptSteps(): readonly Step[] {
    const { team, vectors } = this.#spec;
    const block = this.#block;
    const steps = Array.from({ length: vectors }, (_, k) => {
      return this.#stepInOrder(block, `begin + team_lane + ${k * team.team}u`);
    });
    for (const { scope } of steps) scope.preload();
    return steps;
  }

  /** The step with that number, in the order of scans; after the end the last one again, of which nothing comes. */
  #stepInOrder(block: WgslBlock, number: string): Step {
    const at = block.define(number);
    const last = block.define(`min(${at}, ${this.#spec.stage === undefined ? 'u.steps' : 'end'} - 1u)`);
    const own = this.#scans?.reverse === true ? block.define(`begin + (end - 1u - ${last})`) : last;
    return this.#step(block, own, block.define(`${at} < end`));
  }

  #step(block: WgslBlock, at: string, inside: string | undefined): Step {
    const { rowRank, foldedRank } = this.#spec;
    const axes = Array.from({ length: foldedRank }, (_, axis) => rowRank + axis);
    const coordinates = [
      ...Array.from({ length: rowRank }, (): string | undefined => undefined),
      ...divided(block, at, axes),
    ];
    const scans = new Map<number, WgslValue>();
    const scope = new GraphScope(this.#spec, block, this.#sourceAt(block, coordinates, scans), this.#row);
    return { scope, coordinates, inside, scans };
  }

  #load(block: WgslBlock, input: number, coordinates: readonly (string | undefined)[]): RawValue {
    return loadAt(block, this.#spec, input, coordinates, { width: this.#widthOf(input), base: this.#bases[input] });
  }

  #widthOf(operand: number): 1 | 4 {
    const { kernel, operands, width } = this.#spec;
    const level = kernel.outputs[operand - kernel.inputs.length]?.level ?? operands[operand]?.level;
    return level === 'row' && !this.#isAcross ? 1 : width;
  }

  #coordinate(block: WgslBlock, place: number, coordinates: readonly (string | undefined)[]): WgslValue {
    const own = (place < this.#spec.rowRank ? this.#rowCoordinates[place] : coordinates[place]) as string;
    return coordinateAt(block, this.#spec, place, own);
  }

  /** The row-major place in the row of a step's elements. */
  #place(block: WgslBlock, coordinates: readonly (string | undefined)[]): WgslValue {
    const { rowRank, foldedRank, width } = this.#spec;
    const isVector = width === 4 && !this.#isAcross;
    const last = rowRank + foldedRank - 1;
    const terms = Array.from({ length: foldedRank }, (_, index) => {
      const axis = rowRank + index;
      const coordinate = coordinates[axis] as string;
      return isVector && axis === last ? `${coordinate} * 4u` : `${coordinate} * u.${placeName(axis)}`;
    });
    const first = [`u.${FIRST_PLACE}`, ...terms].join(' + ');
    if (!isVector) return { text: block.define(first), type: 'u32', width: 1 };
    return { text: block.define(`vec4u(${first}) + vec4u(0u, 1u, 2u, 3u)`), type: 'u32', width: 4 };
  }

  /** The element of a step for a fold; the neutral one beyond the end. */
  #lift(fold: OpenFold, { scope, coordinates, inside }: Step): State {
    const { math, block } = scope;
    const elementOf = ({ index }: PhaseFold): WgslValue =>
      this.#wide(scope.folded(foldAt(this.#spec.kernel, index)), block);
    const state = fold.lift(math, elementOf, { position: () => this.#place(block, coordinates), mean });
    const wide = state.map((part) => this.#wide(part, block));
    if (inside === undefined) return wide;
    return fold.select(math, { text: inside, type: 'bool', width: 1 }, wide, fold.identity(math));
  }

  /** Broadcasts to the vector width. */
  #wide(value: WgslValue, block: WgslBlock): WgslValue {
    const { width } = this.#spec;
    if (value.width === width) return value;
    return { text: block.define(widened(value, width)), type: value.type, width };
  }

  #foldKept(open: readonly OpenFold[], steps: readonly Step[]): readonly State[] {
    return open.map((fold) => {
      const states = steps.map((step) => this.#lift(fold, step));
      return this.#acrossWidth(fold, fold.joinAll(this.#row.math, states));
    });
  }

  #foldInLoop(open: readonly OpenFold[]): readonly State[] {
    const block = this.#block;
    const variables = open.map((fold) => foldVariables(fold, this.#row.math, this.#spec.width));
    this.#loop((inner, steps) => {
      const innerMath = new WgslArithmetic(inner);
      for (const [index, fold] of open.entries()) {
        const own = variables[index] as State;
        const lifted = steps.map((step) => this.#lift(fold, step));
        setVariables(inner, own, fold.join(innerMath, own, fold.joinAll(innerMath, lifted)));
      }
    });
    return open.map((fold, index) => {
      return this.#acrossWidth(fold, readVariables(block, variables[index] as State));
    });
  }

  /** Runs over the lane's share of the row: some steps at once, then one by one. */
  #loop(body: (block: WgslBlock, steps: readonly Step[]) => void): void {
    const block = this.#block;
    const { kernel, team, width } = this.#spec;
    const [stride, unroll] = [team.team, unrollOf(kernel, width)];
    const at = block.fresh();
    block.add(`var ${at} = begin + team_lane;`);
    if (unroll > 1) {
      const inner = block.inner();
      const steps = Array.from({ length: unroll }, (_, k) =>
        this.#step(inner, inner.define(`${at} + ${k * stride}u`), undefined),
      );
      for (const { scope } of steps) scope.preload();
      body(inner, steps);
      block.enclose(`for (; ${at} + ${(unroll - 1) * stride}u < end; ${at} += ${unroll * stride}u)`, inner);
    }
    const rest = block.inner();
    body(rest, [this.#step(rest, rest.define(at), undefined)]);
    block.enclose(`for (; ${at} < end; ${at} += ${stride}u)`, rest);
  }

  /** Joins the neighbours of a vector along a row; across rows each belongs to a different row. */
  #acrossWidth(fold: OpenFold, state: State): State {
    if (this.#spec.width === 1 || this.#isAcross) return state;
    const { math } = this.#row;
    const component = (name: string): State =>
      state.map(({ text, type }) => ({ text: `${text}.${name}`, type, width: 1 as const }));
    const [x, y, z, w] = [component('x'), component('y'), component('z'), component('w')];
    return fold.joinAll(math, [x, y, z, w]);
  }

  #storeElements(kept: readonly Step[] | undefined): void {
    const outputs = outputsOf(this.#spec.kernel, 'element');
    if (outputs.length === 0) return;
    if (kept === undefined) this.#loop((inner, steps) => steps.forEach((step) => this.#storeStep(inner, step)));
    else for (const step of kept) this.#storeStep(this.#block, step);
  }

  #storeStep(block: WgslBlock, { scope, coordinates, inside }: Step): void {
    const outputs = outputsOf(this.#spec.kernel, 'element');
    const raws = outputs.map((output) => storedBits(this.#spec, output, scope, 'lane'));
    const stores = block.inner();
    for (const [index, raw] of raws.entries()) this.#store(stores, outputs[index] as number, raw, coordinates);
    block.enclose(`if (is_row${inside === undefined ? '' : ` && ${inside}`})`, stores);
  }

  /** The states of scans of the parts before this one, in the order of the scans. */
  #joinBefore({ folds, reverse }: Scans): State {
    const [phase, open] = [foldsOf(this.#spec.kernel).length, openFolds(folds)];
    const own = this.#block.define('part + u.first_part');
    const [first, end] = reverse ? [`${own} + 1u`, 'u.all_parts'] : ['0u', own];
    const states = new ScratchCode(this.#spec, this.#block).joinParts(phase, open, first, end);
    return this.#join(open, states).flat();
  }

  /** Stores the elements: block by block of a step or some of each lane, in the order of the scans. */
  #scanElements(scans: Scans, kept: readonly Step[] | undefined, before: State | undefined): void {
    const block = this.#block;
    const { kernel, team, width } = this.#spec;
    const folds: OpenFold = new FoldStates(scans.folds);
    const scan = (inner: WgslBlock, steps: readonly Step[], start: State): State => {
      for (const { scope } of steps) scope.preload();
      const vectors = steps.map((step) => this.#lift(folds, step));
      const isAlong = width === 4 && !this.#isAcross;
      const { states, end } = scanVectors(inner, folds, scans, this.#teamScan, { start, vectors, isAlong });
      for (const [index, step] of steps.entries()) {
        const values = folds.finish(step.scope.math, states[index] as State, { mean });
        for (const [fold, value] of values.entries()) step.scans.set((folds.folds[fold] as PhaseFold).index, value);
        this.#storeStep(inner, step);
      }
      return end;
    };
    const none = folds.identity(this.#row.math);
    if (kept !== undefined) {
      scan(block, kept, none);
      return;
    }
    const carried = variablesOf(block, before ?? none, this.#isAcross ? width : 1);
    const unroll = unrollOf(kernel, width);
    const [first, inner] = [block.fresh(), block.inner()];
    const steps = Array.from({ length: unroll }, (_, k) =>
      this.#stepInOrder(inner, `${first} + team_lane + ${k * team.team}u`),
    );
    setVariables(inner, carried, scan(inner, steps, readVariables(inner, carried)));
    // What the lanes left for each other is overwritten in the next turn.
    if (this.#teamScan.declarations.length > 0) inner.add('workgroupBarrier();');
    block.enclose(`for (var ${first} = begin; ${first} < end; ${first} += ${unroll * team.team}u)`, inner);
  }

  #storeRows(): void {
    const { kernel, stage } = this.#spec;
    const outputs = outputsOf(kernel, 'row');
    if (outputs.length === 0) return;
    const block = this.#block;
    const raws = outputs.map((output) => storedBits(this.#spec, output, this.#row, 'lane'));
    const stores = block.inner();
    for (const [index, raw] of raws.entries()) this.#store(stores, outputs[index] as number, raw, []);
    const isFirst = stage === undefined ? '' : ' && part + u.first_part == 0u';
    block.enclose(`if (is_row && team_lane == 0u${isFirst})`, stores);
  }

  #store(block: WgslBlock, output: number, raw: StoredValue, coordinates: readonly (string | undefined)[]): void {
    const index = this.#spec.kernel.inputs.length + output;
    storeAt(block, this.#spec, output, coordinates, raw, { width: this.#widthOf(index), base: this.#bases[index] });
  }
}
