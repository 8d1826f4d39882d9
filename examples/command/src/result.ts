import type { ComputeBackend } from '@concord/backend-core';
import type { Output } from './output.ts';

/** Writes a result: as one JSON object with `--json`, else as text. */
export function writeResult(stdout: Output, json: boolean | undefined, result: object, text: () => string): void {
  stdout.write(`${json === true ? JSON.stringify(result) : text()}\n`);
}

/** `Label  value`, one line each, the values below each other. */
export function factLines(facts: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(facts).map((label) => label.length));
  return Object.entries(facts)
    .map(([label, value]) => `${label.padEnd(width)}  ${value}`)
    .join('\n');
}

/** The backend of a result, in text. */
export function deviceText({ name, device }: Pick<ComputeBackend, 'name' | 'device'>): string {
  return `${name}: ${device.name} [${device.type}]`;
}

/** The backend of a result, in JSON. */
export function deviceFields({ name, device }: ComputeBackend): { readonly backend: string; readonly device: string } {
  return { backend: name, device: device.name };
}

/** `1 word`, `1,024 words`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}
