import type { ConstantTable } from './constant-table.ts';
import type { Requirements } from './requirements.ts';
import type { Sections } from './sections.ts';
import type { Type } from './type.ts';
import type { TypeTable } from './type-table.ts';
import type { Value } from './value.ts';

/** The tables that the functions of a module share. */
export interface ModuleContext {
  /** The module, which its values carry. */
  readonly module: object;
  readonly sections: Sections;
  readonly types: TypeTable;
  readonly constants: ConstantTable;
  readonly requirements: Requirements;
  /** Id of the OpenCL.std instruction set. */
  openCl(): number;
  /** The input variable of a built-in of the kernel environment. */
  builtIn(builtIn: number, type: Type): Value;
  /** Returns whether it is a function of the module, and complete. */
  hasFunction(handle: object): boolean;
}
