declare const brand: unique symbol;

/** Id of a type. */
export type TypeId = number & { readonly [brand]: 'type' };
/** Id of a value: a constant, a parameter, or the result of an instruction. */
export type ValueId = number & { readonly [brand]: 'value' };
/** Id of a block. */
export type LabelId = number & { readonly [brand]: 'label' };
