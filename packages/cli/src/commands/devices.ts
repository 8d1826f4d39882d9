import type { Attempt, DeviceInfo, Limits } from '@concord/backend-core';
import type { ProfileState } from '@concord/variants';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../command-error.ts';
import { type BackendReport, type DevicesReport, inspectDevices, type VariantTrial } from '../inspect-devices.ts';
import { excludedLines } from '../output/case-summary.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { formatBytes } from '../output/format.ts';
import { toJsonText } from '../output/json-text.ts';
import { plainTable, type TableCell } from '../output/table.ts';

/** Options of `concord devices`. */
export interface DevicesOptions {
  readonly json?: true;
  readonly verbose?: true;
}

/** Runs `concord devices`: every backend, whether it works here and why not, and which one is picked. */
export async function listDevices(
  { providers, stdout, signal }: CommandContext,
  options: DevicesOptions,
): Promise<number> {
  const report = await inspectDevices(providers, { signal, triesVariants: options.verbose === true });
  if (options.json === true) stdout.write(toJsonText(report));
  else stdout.write(`${devicesTable(report, colorsFor(stdout), tableWidth(stdout.columns))}\n`);
  return report.picked === null ? EXIT.unavailable : EXIT.ok;
}

/** The width of the terminal, within limits that are pleasant to read. */
function tableWidth(columns = 80): number {
  return Math.min(80, Math.max(60, columns));
}

const HEAD = ['Backend', 'Status', 'Device', 'Type', 'Memory'];
const DEVICE_COLUMN = 2;

/** The report as a table of at most `width` columns, and one line on which backend is picked and why. */
export function devicesTable(report: DevicesReport, colors: Colors, width: number): string {
  const rows = report.backends.map((backend, index) => row(backend, statusOf(report.attempts[index], backend)));
  const widths = HEAD.map((title, column) =>
    Math.max(...[title, ...rows.map((cells) => cells[column] ?? '')].map(len)),
  ).map((natural) => natural + 2);
  // The device's name is the one cell that may be long: it is wrapped to what the others leave. What is left over goes
  // to the last column, for the lines that reach over several.
  const tooWide = widths.reduce((sum, each) => sum + each, -width);
  if (tooWide > 0) widths[DEVICE_COLUMN] = Math.max(16, (widths[DEVICE_COLUMN] as number) - tooWide);
  else widths[HEAD.length - 1] = (widths[HEAD.length - 1] as number) - tooWide;
  const cells = report.backends.flatMap((backend, index): TableCell[][] => [
    paint(rows[index] as string[], backend, colors),
    ...details(backend).map((line): TableCell[] => ['', { content: colors.dim(line), colSpan: HEAD.length - 1 }]),
  ]);
  return `${plainTable(HEAD, cells, colors, { widths })}\n\n${pickedLine(report, colors)}`;
}

function len(text: string): number {
  return text.length;
}

function row(backend: BackendReport, status: string): string[] {
  if (!backend.available) return [backend.name, status, '-', '-', '-'];
  const { name, type, memoryBytes } = backend.device;
  return [backend.name, status, name, type, memoryBytes === undefined ? '-' : formatBytes(memoryBytes)];
}

function statusOf(attempt: Attempt | undefined, backend: BackendReport): string {
  if (attempt?.outcome === 'selected') return 'picked';
  if (!backend.available) return 'unavailable';
  return attempt?.reason === 'disabled' ? 'left out' : 'available';
}

function paint(row: readonly string[], backend: BackendReport, colors: Colors): string[] {
  const [name = '', status = '', ...rest] = row;
  const tint = status === 'picked' ? colors.green : backend.available ? colors.yellow : colors.red;
  return [colors.bold(name), tint(status), ...rest];
}

function details(backend: BackendReport): string[] {
  if (backend.available)
    return [
      `driver: ${driver(backend.device)}`,
      `limits: ${limits(backend.limits)}`,
      ...parts(backend.device),
      ...(backend.tuning === undefined ? [] : [`tuning: ${tuning(backend.tuning)}`]),
      ...(backend.variants === undefined ? [] : variants(backend.variants)),
    ];
  const why = `${backend.message} (${backend.reason})`;
  return backend.hint === null ? [why] : [why, `hint: ${backend.hint}`];
}

function driver({ vendor, driver: version }: DeviceInfo): string {
  return `${version} (vendor: ${vendor})`;
}

/** The parts of the device, where its driver tells. */
function parts({ computeUnits, subDevices = 0 }: DeviceInfo): string[] {
  if (computeUnits === undefined) return [];
  const tiles = subDevices === 0 ? 'no sub-devices' : `${subDevices} sub-device${subDevices === 1 ? '' : 's'}`;
  return [`parts:  ${computeUnits.toLocaleString('en')} compute unit${computeUnits === 1 ? '' : 's'}, ${tiles}`];
}

function tuning({ state, path, detail }: ProfileState): string {
  if (state === 'none') return `no profile; ${detail}`;
  return `profile ${state} (${detail})${path === undefined ? '' : `: ${path}`}`;
}

function variants({ built, excluded }: VariantTrial): string[] {
  const rest = excluded.length === 0 ? 'none excluded' : `${excluded.length} excluded:`;
  return [`variants: ${built.length} built, ${rest}`, ...excludedLines(excluded)];
}

function limits({ maxAllocationBytes, maxHeadDim }: Limits): string {
  return `${formatBytes(maxAllocationBytes)} per allocation, attention heads of ${maxHeadDim.toLocaleString('en')}`;
}

function pickedLine({ picked, concordBackend, attempts }: DevicesReport, colors: Colors): string {
  const because = concordBackend === null ? '' : ` (CONCORD_BACKEND=${concordBackend})`;
  if (picked === null) return `${colors.red('Picked: none')}, no backend can be used here${because}`;
  const message = attempts.find(({ outcome }) => outcome === 'selected')?.message ?? '';
  return `${colors.green(`Picked: ${picked}`)} - ${message}${because}`;
}
