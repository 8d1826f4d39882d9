import type { ComputeBackend } from '../contract/backend.ts';
import { OP_NAMES } from '../contract/capabilities.ts';
import { DTYPES } from '../contract/element-types.ts';
import { checkMemoryLimit, checkOneOf, checkOptions, describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { type Attempt, BackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { openUsable, type OpenOptions } from './open-usable.ts';
import { bestDevice, byRank, failureOf, type ProbedProvider, probeProvider } from './probe-provider.ts';
import type { BackendProvider } from './provider.ts';

/** Options of {@link selectBackend}. */
export interface SelectOptions extends OpenOptions {
  /** Names in order of preference; an empty list prefers none. Default: the environment variable `CONCORD_BACKEND`, a list with commas. */
  readonly prefer?: readonly string[];
}

/** Result of {@link selectBackend}. */
export interface Selection {
  /** Initialized and self-tested. The caller disposes it. */
  readonly backend: ComputeBackend;
  /** The outcome for each provider, in the order of preference. */
  readonly attempts: readonly Attempt[];
}

/**
 * The best backend that really works on this machine: probes all providers, ranks them (discrete GPU, integrated,
 * unknown, cpu, software; then priority; then array order), and takes the first that initializes, meets the
 * requirements and passes a self test. `CONCORD_BACKEND=a,b` restricts the choice to those, in that order.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE with `attempts` when none can be used
 * @throws {BackendError} INVALID_ARGUMENT when `CONCORD_BACKEND` or `prefer` names a backend that is not among the providers,
 *   and for unknown options
 */
export async function selectBackend(
  providers: readonly BackendProvider[],
  options: SelectOptions = {},
): Promise<Selection> {
  checkArguments(providers, options);
  const ordered = await orderProviders(
    providers,
    options.prefer?.length === 0 ? undefined : (options.prefer ?? preferenceFromEnvironment()),
  );
  const attempts: Attempt[] = [];
  let backend: ComputeBackend | undefined;
  for (const { candidate, disabled } of ordered) {
    const { provider, probe } = candidate;
    const common = { provider: provider.name, device: bestDevice(candidate) };
    if (disabled !== undefined) {
      attempts.push({ ...common, outcome: 'unavailable', reason: 'disabled', message: disabled });
    } else if (!probe.available) {
      const { reason, message, hint } = probe;
      attempts.push({ ...common, outcome: 'unavailable', reason, message, hint });
    } else if (backend !== undefined) {
      attempts.push({ ...common, outcome: 'not-tried', message: `available, ranks after ${backend.name}` });
    } else {
      try {
        const usable = await openUsable(provider, options);
        backend = usable.backend;
        const message = 'works, and ranks first of those that do';
        attempts.push({ ...common, device: usable.device, outcome: 'selected', message });
      } catch (error) {
        attempts.push({ ...common, outcome: 'unavailable', ...failureOf(error) });
      }
    }
  }
  if (backend === undefined) throw noneUsable(attempts, providers);
  return { backend, attempts };
}

interface Ordered {
  readonly candidate: ProbedProvider;
  /** Why it may not be used although it might work. */
  readonly disabled?: string;
}

async function orderProviders(
  providers: readonly BackendProvider[],
  preferred: readonly string[] | undefined,
): Promise<Ordered[]> {
  if (preferred === undefined) {
    const probed = await Promise.all(providers.map(probeProvider));
    return byRank(probed).map((candidate) => ({ candidate }));
  }
  const names = providers.map((provider) => provider.name);
  const unknown = preferred.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw invalid(`no backend "${unknown}"; there are: ${names.join(', ')}`, {
      hint: 'check the spelling in CONCORD_BACKEND, or the names that the program asks for',
    });
  }
  const chosen = [...new Set(preferred)].flatMap((name) => providers.filter((provider) => provider.name === name));
  const probed = await Promise.all(chosen.map(probeProvider));
  const rest = providers.filter((provider) => !chosen.includes(provider));
  const message = `not among the backends asked for (${preferred.join(', ')})`;
  return [
    ...probed.map((candidate) => ({ candidate })),
    ...rest.map((provider) => ({
      candidate: { provider, probe: { available: false, reason: 'disabled', message } } as const,
      disabled: message,
    })),
  ];
}

/** `CONCORD_BACKEND` as a list; undefined where it is unset or empty, or there is no environment. */
function preferenceFromEnvironment(): readonly string[] | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const names = (process?.env?.['CONCORD_BACKEND'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? undefined : names;
}

/** Mistakes in the call are the caller's, not a backend that is unavailable. */
function checkArguments(providers: unknown, options: unknown): void {
  checkOptions(options);
  checkFields('options', options as object, ['require', 'prefer', 'create', 'timeoutMs']);
  const { require = [], prefer = [], create = {}, timeoutMs = 0 } = options as SelectOptions;
  checkOptions(create);
  checkFields('create', create, ['memoryLimitBytes']);
  checkMemoryLimit(create.memoryLimitBytes);
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0)) {
    throw invalid(`timeoutMs must be a number >= 0, got ${describe(timeoutMs)}`);
  }
  if (!Array.isArray(providers)) throw invalid(`providers must be an array, got ${describe(providers)}`);
  for (const [index, provider] of (providers as unknown[]).entries()) {
    const { name, probe, create } = (provider ?? {}) as Partial<BackendProvider>;
    if (typeof name !== 'string' || typeof probe !== 'function' || typeof create !== 'function') {
      throw invalid(`providers[${index}] is not a provider, got ${describe(provider)}`, {
        hint: 'pass cpu(), not cpu',
      });
    }
  }
  if (!Array.isArray(prefer) || prefer.some((name) => typeof name !== 'string')) {
    throw invalid(`prefer must be an array of names, got ${describe(prefer)}`);
  }
  if (!Array.isArray(require)) throw invalid(`require must be an array, got ${describe(require)}`);
  for (const requirement of require) {
    checkOneOf('require[].op', requirement?.op, OP_NAMES);
    checkFields('require[]', requirement, ['op', 'dtype']);
    if (requirement.dtype !== undefined) checkOneOf('require[].dtype', requirement.dtype, DTYPES);
  }
}

function noneUsable(attempts: readonly Attempt[], providers: readonly BackendProvider[]): BackendError {
  const reasons = new Set(attempts.map(({ reason }) => reason));
  const summary = attempts.map(({ provider, message }) => `${provider}: ${message}`).join('; ');
  const hasCpu = providers.some(({ name }) => name === 'cpu');
  return new BackendError('BACKEND_UNAVAILABLE', summary === '' ? 'no providers were passed' : summary, {
    reason: reasons.size === 1 ? [...reasons][0] : 'no-device',
    hint:
      attempts.find(({ hint }) => hint !== undefined)?.hint ?? (hasCpu ? undefined : 'pass cpu() as the last provider'),
    attempts,
  });
}
