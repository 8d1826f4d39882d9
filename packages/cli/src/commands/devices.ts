import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { inspectDevices } from '../inspect-devices.ts';
import { colorsFor } from '../output/colors.ts';
import { devicesTable } from '../output/devices-table.ts';
import { toJsonText } from '../output/json-text.ts';

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
