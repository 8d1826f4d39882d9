import type { CallDescription, CaseDescription, OperandDescription } from '@concord/conformance/describe';
import type { Colors } from './colors.ts';
import { plural } from './format.ts';

/** Columns of the names on the left. */
const INDENT = 9;

/** A case in words: what it does, its inputs, how it is judged, and how to run it. Lines of at most `width` columns. */
export function caseText(description: CaseDescription, colors: Colors, width: number): string {
  const { id, does, inputs, kind, passes, bound, calls, callCount, needs, seed } = description;
  const lines: string[] = [];
  const add = (name: string, ...texts: readonly string[]): void => {
    const wrapped = texts.flatMap((text) => wrap(text, width - INDENT));
    lines.push(
      ...wrapped.map((line, i) => `${i === 0 ? colors.bold(name.padEnd(INDENT)) : ' '.repeat(INDENT)}${line}`),
    );
  };
  for (const call of calls) add('Call', callText(call), ...call.operands.map(operandText));
  if (callCount > calls.length) add('', `and ${plural(callCount - calls.length, 'more call')}`);
  if (inputs !== undefined) add('Values', inputs);
  add('Seed', `the id: ${seed === id ? 'the same numbers everywhere and every time' : seed}`);
  add('Passes', passes);
  add('Check', kind);
  if (bound !== undefined) {
    add('Bound', bound.formula);
    for (const [name, value] of Object.entries(bound.where)) add('', whereText(name, value));
  } else if (kind !== 'behaviour' && kind !== 'property') {
    add('Bound', '0');
  }
  add('Needs', needs === null ? 'nothing: every backend must pass it' : `${needs.op} in ${needs.dtype}`);
  add('Run it', `concord conformance --filter '${id}'`);
  return [colors.bold(id), '', ...wrap(does, width), '', ...lines].join('\n');
}

function callText({ op, arguments: args }: CallDescription): string {
  const fields = Object.entries(args).map(([name, value]) => `${name} ${valueText(value)}`);
  return [op, ...fields].join('  ');
}

function operandText({ name, role, dtype, elements, lowest, highest, nan, infinite }: OperandDescription): string {
  const parts = [`${name}: ${plural(elements, 'element')} of ${dtype}, ${role}`];
  if (lowest !== null && highest !== null) parts.push(`${short(lowest)} to ${short(highest)}`);
  if (nan > 0) parts.push(`${nan.toLocaleString('en')} NaN`);
  if (infinite > 0) parts.push(`${infinite.toLocaleString('en')} infinite`);
  return parts.join(', ');
}

function whereText(name: string, value: number | string): string {
  if (typeof value === 'number') return `${name} = ${short(value)}`;
  // `gamma` stands for its own definition.
  return value.startsWith(`${name}(`) ? value : `${name}: ${value}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return short(value);
  if (Array.isArray(value)) return `[${value.map(String).join(',')}]`;
  return String(value);
}

const short = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(6)));

/** Breaks text between words; what is longer than a line keeps its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ (?! )/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line.trimEnd());
      line = word.trimStart();
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
