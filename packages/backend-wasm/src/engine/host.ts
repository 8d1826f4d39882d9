/** The parts of the host that are read, without importing anything. */
interface Host {
  readonly process?: {
    readonly version?: string;
    readonly versions?: { readonly v8?: string; readonly deno?: string; readonly bun?: string };
    readonly arch?: string;
    readonly platform?: string;
    getBuiltinModule?(name: string): { availableParallelism?(): number } | undefined;
  };
  readonly navigator?: { readonly hardwareConcurrency?: number; readonly userAgent?: string };
  readonly crossOriginIsolated?: boolean;
}

const host = globalThis as Host;

/** The maximum of threads: more do not pay for small ops. */
const MAX_THREADS = 16;

/** True in Node itself, not in others that have its modules. */
export function isNode(): boolean {
  const { versions } = host.process ?? {};
  return versions?.v8 !== undefined && versions.deno === undefined && versions.bun === undefined;
}

/** The default number of threads. */
export function defaultThreads(): number {
  const cores =
    host.process?.getBuiltinModule?.('node:os')?.availableParallelism?.() ?? host.navigator?.hardwareConcurrency ?? 1;
  return Math.max(1, Math.min(MAX_THREADS, cores));
}

/** The reason why memory cannot be shared with workers; undefined if it can. */
export function sharingObstacle(): string | undefined {
  if (host.crossOriginIsolated === false) return 'the page is not cross-origin isolated';
  return typeof SharedArrayBuffer === 'function' ? undefined : 'there is no SharedArrayBuffer';
}

/** The machine, such as `linux x64`; empty where the host does not tell. */
export function hostName(): string {
  return [host.process?.platform, host.process?.arch].filter((part) => part !== undefined).join(' ');
}

/** The engine and its version. */
export function engineName(): string {
  const { version, versions } = host.process ?? {};
  if (versions?.deno !== undefined) return `Deno ${versions.deno}, V8 ${versions.v8 ?? ''}`;
  if (versions?.bun !== undefined) return `Bun ${versions.bun}`;
  if (versions?.v8 !== undefined) return `Node.js ${version ?? ''}, V8 ${versions.v8}`;
  return host.navigator?.userAgent ?? 'JavaScript';
}
