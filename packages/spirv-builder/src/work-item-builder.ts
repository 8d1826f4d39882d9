import type { ModuleContext } from './block-builder.ts';
import { ControlBuilder } from './control-builder.ts';
import { BuiltIn, Capability, Decoration, StorageClass } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { Type } from './type.ts';
import type { Value } from './value.ts';

/** x, y or z. */
export type Dimension = 0 | 1 | 2;

/** Where a work-item is, and arrays of its own and of its group. */
export abstract class WorkItemBuilder extends ControlBuilder {
  readonly #isKernel: boolean;
  readonly #inputs = new Set<Value>();

  constructor(place: string, module: object, context: ModuleContext, isKernel: boolean) {
    super(place, module, context);
    this.#isKernel = isKernel;
  }

  /** Number of this work-item among all, as u64. */
  globalId(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.GlobalInvocationId, dimension);
  }
  /** Number of this work-item in its group, as u64. */
  localId(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.LocalInvocationId, dimension);
  }
  /** Number of this work-item's group, as u64. */
  groupId(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.WorkgroupId, dimension);
  }
  /** Number of groups, as u64. */
  groupCount(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.NumWorkgroups, dimension);
  }
  /** Work-items in a group, as u64. */
  groupSize(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.WorkgroupSize, dimension);
  }
  /** Number of work-items, as u64. */
  globalSize(dimension: Dimension): Value {
    return this.#builtIn(BuiltIn.GlobalSize, dimension);
  }

  /** Number of this work-item in its sub-group, as u32. */
  subgroupLocalId(): Value {
    return this.#subgroupBuiltIn(BuiltIn.SubgroupLocalInvocationId);
  }
  /** Work-items in this sub-group, as u32. */
  subgroupSize(): Value {
    return this.#subgroupBuiltIn(BuiltIn.SubgroupSize);
  }
  /** Number of this sub-group in its group, as u32. */
  subgroupId(): Value {
    return this.#subgroupBuiltIn(BuiltIn.SubgroupId);
  }
  /** Sub-groups in the group, as u32. */
  subgroupCount(): Value {
    return this.#subgroupBuiltIn(BuiltIn.NumSubgroups);
  }

  /** An array in workgroup memory, shared by the work-items of a group: a pointer to it, for `at`. */
  localArray(element: Type, length: number | Value): Value {
    return this.#workgroupVariable(this.#arrayOf(element, length, 'localArray'));
  }

  /** An array of this work-item: a pointer to it, for `at`. */
  privateArray(element: Type, length: number | Value): Value {
    return this.variable(this.#arrayOf(element, length, 'privateArray'));
  }

  /** The built-ins in use: what an entry point has to name. */
  protected get inputs(): readonly Value[] {
    return [...this.#inputs];
  }

  #builtIn(builtIn: number, dimension: Dimension): Value {
    if (dimension !== 0 && dimension !== 1 && dimension !== 2) {
      throw this.error('id', `there is no dimension ${String(dimension)} (0, 1, 2)`);
    }
    // Vectors of three 64-bit integers: what a kernel with 64-bit addresses has them as.
    const input = this.#input(builtIn, this.types.vector(this.types.int(64), 3));
    return this.extract(this.load(input, { align: 32 }), dimension);
  }

  #subgroupBuiltIn(builtIn: number): Value {
    this.context.requirements.capability(Capability.SubgroupDispatch);
    return this.load(this.#input(builtIn, this.types.int(32)));
  }

  #input(builtIn: number, type: Type): Value {
    this.#expectKernel('id', 'built-ins');
    const input = this.context.builtIn(builtIn, type);
    this.#inputs.add(input);
    return input;
  }

  #arrayOf(element: Type, length: number | Value, instruction: string): Type {
    const isLiteral = typeof length === 'number';
    if (isLiteral && (!Number.isSafeInteger(length) || length < 1)) {
      throw this.error(instruction, `cannot have ${length} elements`);
    }
    const count = isLiteral ? this.constant(this.types.int(64), length) : this.use(length, instruction, 'length');
    if (count.integer === undefined) {
      throw this.error(instruction, 'length is no integer constant: a number, or a specialisation constant');
    }
    return this.placed(instruction, '', () => this.types.array(element, count));
  }

  #workgroupVariable(type: Type): Value {
    // Compilers lay workgroup memory out by kernel; some lose what a function declares.
    this.#expectKernel('localArray', 'arrays in workgroup memory');
    const pointer = this.placed('localArray', '', () => this.types.pointer(StorageClass.Workgroup, type));
    const variable = this.newVariable(pointer);
    const { sections } = this.context;
    sections.push('declarations', Op.Variable, pointer.id, variable.id, StorageClass.Workgroup);
    // Enough for vectors of sixteen floats: shared arrays are read in vectors.
    sections.push('decorations', Op.Decorate, variable.id, Decoration.Alignment, 64);
    return variable;
  }

  #expectKernel(instruction: string, what: string): void {
    if (!this.#isKernel) throw this.error(instruction, `${what} are for kernels: pass them to functions as parameters`);
  }
}
