import type { ValueType } from '@concord/backend-core/kernel';

/** A value in generated WGSL: the name of a `let`, or a literal. */
export interface WgslValue {
  readonly text: string;
  readonly type: ValueType;
  /** Elements that it holds: neighbours, by component; 1 also for what is the same for all of them. */
  readonly width: 1 | 4;
}

/** The WGSL type of `width` neighbours. */
export function wgslType(type: ValueType, width: 1 | 4): string {
  return width === 1 ? type : `vec4<${type}>`;
}

/** The value with `width` components; a scalar is repeated. */
export function widened({ text, type, width }: WgslValue, wanted: 1 | 4): string {
  return width === wanted ? text : `${wgslType(type, wanted)}(${text})`;
}

/** Lines of generated code, and names for its values. */
export class WgslBlock {
  readonly lines: string[] = [];
  readonly #names: { count: number };
  readonly #prefix: string;

  /** @param outer - the block around this one, whose names are not used again */
  constructor(prefix = 'v', outer?: WgslBlock) {
    this.#prefix = prefix;
    this.#names = outer === undefined ? { count: 0 } : outer.#names;
  }

  /** Adds a line. */
  add(line: string): void {
    this.lines.push(line);
  }

  /** Names the value of an expression. */
  define(expression: string): string {
    const name = this.fresh();
    this.lines.push(`let ${name} = ${expression};`);
    return name;
  }

  /** A name that nothing else has. */
  fresh(): string {
    return `${this.#prefix}${this.#names.count++}`;
  }

  /** A block whose lines go somewhere inside this one. */
  inner(): WgslBlock {
    return new WgslBlock(this.#prefix, this);
  }

  /** Adds the lines of an inner block between a line and a closing brace. */
  enclose(head: string, inner: WgslBlock): void {
    this.lines.push(`${head} {`, ...inner.lines.map((line) => `  ${line}`), '}');
  }

  /** The lines, indented by `depth` steps. */
  text(depth = 1): string {
    const indent = '  '.repeat(depth);
    return this.lines.map((line) => indent + line).join('\n');
  }
}
