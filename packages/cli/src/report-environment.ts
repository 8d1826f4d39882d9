import { readFileSync } from 'node:fs';

/** The place and time of a report. */
export interface ReportEnvironment {
  readonly date: Date;
  /** Version of the command. */
  readonly concord: string;
  /** The runtime, such as `Node.js v20.20.2, linux x64`. */
  readonly host: string;
}

/** The environment of a report that is made now. */
export function environmentOf(): ReportEnvironment {
  const host = `Node.js ${process.version}, ${process.platform} ${process.arch}`;
  return { date: new Date(), concord: packageVersion(), host };
}

/** The version of this package. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
