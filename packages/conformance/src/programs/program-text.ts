import { allocatedIn, slotOf } from './places.ts';
import { planOf } from './program-calls.ts';
import { placeOfOperand, type ProgramOperand } from './program-call.ts';
import type { CallStep, Place, Program, RecordableStep, Step } from './step.ts';
import { WORD_TEXT, writtenText } from './write-data.ts';

/** A JavaScript expression in the arguments of a call. */
class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A program as JavaScript, to paste into a module that has an initialized `backend`. */
export function programText(program: Program): string {
  const kernels = new Map<object, string>();
  const lines = program.flatMap((step, index) => linesOf(step, index, kernels));
  const uses = (name: string): boolean => lines.some((line) => line.includes(`${name}(`));
  const core = ['toF16Array', 'toBf16Array'].filter(uses);
  return [
    ...(core.length > 0 ? [`import { ${core.join(', ')} } from '@concord/backend-core';`] : []),
    ...(kernels.size > 0 ? ["import { kernelFromJson } from '@concord/backend-core/kernel';"] : []),
    ...(uses('word') ? [WORD_TEXT] : []),
    ...[...kernels].map(([kernel, name]) => `const ${name} = kernelFromJson(${JSON.stringify(kernel)});`),
    'const reads = [];',
    ...lines,
    'await Promise.all(reads);',
  ].join('\n');
}

function linesOf(step: Step, index: number, kernels: Map<object, string>): string[] {
  switch (step.do) {
    case 'read':
      return [
        `const got${index} = new Uint8Array(${step.bytes});`,
        step.givenUp === true
          ? `{ const wait = new AbortController(); backend.copyDtoh(got${index}, ${placeText(step.from)}, wait).catch(() => {}); wait.abort(); }`
          : `reads.push(backend.copyDtoh(got${index}, ${placeText(step.from)}));`,
      ];
    case 'wait': {
      const calls = {
        reads: 'await Promise.all(reads);',
        device: 'await backend.synchronize();',
        nothing: 'backend.flush();',
        others: 'await new Promise((next) => setTimeout(next));',
      };
      return [calls[step.for]];
    }
    case 'record':
      return [
        `const r${step.id} = backend.record(() => {`,
        ...[...step.body, ...[...allocatedIn(step.body)].map((id): RecordableStep => ({ do: 'free', id }))].map(
          (own) => `  ${recordableLine(own, kernels)}`,
        ),
        `}${slotText(step)});`,
      ];
    case 'replay':
      return [`r${step.id}.replay(${step.to === undefined ? '' : `{ s: ${placeText(step.to)} }`});`];
    case 'release':
      return [`r${step.id}.dispose();`];
    default:
      return [recordableLine(step, kernels)];
  }
}

function slotText({ body, slotBytes }: Step & { readonly do: 'record' }): string {
  return slotBytes === undefined ? '' : `, { slots: { s: { ptr: p${slotOf(body)}, bytes: ${slotBytes} } } }`;
}

function recordableLine(step: RecordableStep, kernels: Map<object, string>): string {
  switch (step.do) {
    case 'alloc':
      return `const p${step.id} = backend.alloc(${step.bytes});`;
    case 'free':
      return `backend.free(p${step.id});`;
    case 'write':
      return `backend.copyHtod(${placeText(step.to)}, ${writtenText(step)});`;
    case 'fill':
      return `backend.fill(${placeText(step.to)}, ${step.value}, ${step.bytes});`;
    case 'copy':
      return `backend.copyDtod(${placeText(step.to)}, ${placeText(step.from)}, ${step.bytes});`;
    case 'call':
      return callText(step, kernels);
  }
}

function callText(step: CallStep, kernels: Map<object, string>): string {
  const call = planOf(step);
  if (call === undefined) return '// a call that cannot be made';
  const places = call.operands.map((operand: ProgramOperand) => placeOfOperand(operand, step.places));
  const args = call.argumentsOf((operand) => new Expression(placeText(places[operand] as Place)));
  return `backend.${call.op}(${args.map((arg) => valueText(arg, kernels)).join(', ')});`;
}

const placeText = ({ id, at }: Place): string => (at === 0 ? `p${id}` : `p${id} + ${at}`);

function valueText(value: unknown, kernels: Map<object, string>): string {
  if (value instanceof Expression) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => valueText(each, kernels)).join(', ')}]`;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if ('nodes' in value) {
    const name = kernels.get(value) ?? `kernel${kernels.size + 1}`;
    kernels.set(value, name);
    return name;
  }
  const fields = Object.entries(value).filter(([, own]) => own !== undefined);
  return `{ ${fields.map(([key, own]) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${valueText(own, kernels)}`).join(', ')} }`;
}
