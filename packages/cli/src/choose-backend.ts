import { type BackendProvider, isBackendError, printable, selectBackend } from '@concord/backend-core';
import { requiredBackends as namesRequired } from '@concord/conformance';
import { CommandError, EXIT } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { nearIds } from './near-ids.ts';
import { colorsFor } from './output/colors.ts';

/**
 * The provider to run on: the one named, or else one of those that `CONCORD_REQUIRE` lists, or else the one that an
 * application would get.
 *
 * A named one is not tried out first: a backend that computes nonsense is just what conformance is for.
 *
 * @throws {CommandError} INVALID_ARGUMENT for an unknown name
 * @throws {BackendError} BACKEND_UNAVAILABLE when none can be used
 */
export async function chooseProvider(
  providers: readonly BackendProvider[],
  name: string | undefined,
): Promise<BackendProvider> {
  const required = requiredBackends(providers);
  if (name !== undefined) return providerNamed(providers, name, 'the option --backend');
  const [onlyRequired] = required;
  if (onlyRequired !== undefined) return providerNamed(providers, onlyRequired, 'CONCORD_REQUIRE');
  const { backend } = await selectBackend(providers);
  await backend.dispose();
  return providerNamed(providers, backend.name, 'the registry');
}

/**
 * The providers of a list of names with commas between them, each once; without a list the one of
 * {@link chooseProvider}.
 *
 * @throws {CommandError} INVALID_ARGUMENT for an unknown name, or none
 */
export async function chooseProviders(
  providers: readonly BackendProvider[],
  list: string | undefined,
): Promise<readonly BackendProvider[]> {
  if (list === undefined) return [await chooseProvider(providers, undefined)];
  const names = new Set(list.split(',').map((name) => name.trim()));
  return [...names].map((name) => providerNamed(providers, name, 'the option --backend'));
}

/**
 * The names in `CONCORD_REQUIRE`: backends that have to work here, as on a CI machine with that device.
 *
 * @throws {CommandError} INVALID_ARGUMENT, since a misspelt name would require nothing
 */
export function requiredBackends(providers: readonly BackendProvider[]): readonly string[] {
  const names = namesRequired();
  for (const name of names) providerNamed(providers, name, 'CONCORD_REQUIRE', EXIT.failed);
  return names;
}

function providerNamed(
  providers: readonly BackendProvider[],
  name: string,
  origin: string,
  exitCode: number = EXIT.usage,
): BackendProvider {
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider !== undefined) return provider;
  const near = nearIds(
    name,
    providers.map((known) => known.name),
    1,
  );
  const suggestion = near.map((known) => `did you mean ${known}? `).join('');
  throw new CommandError(`no backend "${name}"; there are: ${providers.map((known) => known.name).join(', ')}`, {
    exitCode,
    hint: `${suggestion}check ${origin}; concord devices lists what works here`,
  });
}

/** Why a backend was not run. */
export interface NotRun {
  readonly backend: string;
  readonly message: string;
  readonly hint: string | null;
  /** `CONCORD_REQUIRE` names the backend. */
  readonly isRequired: boolean;
  /** True if the backend is required, or did not fail as an absent device does. */
  readonly isFailure: boolean;
}

/** The result of `work`, or the reason why it was not done. */
type Tried<T> = { readonly report: T; readonly notRun?: never } | { readonly report?: never; readonly notRun: NotRun };

/** Runs `work` on a provider's backend, or finds out why it cannot be used here. */
export async function tryBackend<T extends object & { readonly notRun?: string; readonly failed?: number }>(
  provider: BackendProvider,
  { providers }: CommandContext,
  work: () => Promise<T>,
): Promise<Tried<T>> {
  const backend = provider.name;
  const isRequired = requiredBackends(providers).includes(backend);
  const notRun = (message: string, hint: string | undefined, isBroken = false): Tried<T> => ({
    notRun: {
      backend,
      message: printable(message),
      hint: hint === undefined ? null : printable(hint),
      isRequired,
      isFailure: isRequired || isBroken,
    },
  });
  // A probe that throws is for `concord devices` to judge; here it counts only what the backend does when it is made.
  const probe = await provider.probe().catch(() => undefined);
  if (probe?.available === false) return notRun(probe.message, probe.hint);
  try {
    const report = await work();
    return report.notRun === undefined ? { report } : notRun(report.notRun, undefined, (report.failed ?? 0) > 0);
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return notRun(error.detail, error.hint);
  }
}

/**
 * Prints why a backend was not run.
 *
 * @returns the exit code: a failure if the backend is required or broken
 */
export function reportNotRun(
  { backend, message, hint, isRequired, isFailure }: NotRun,
  context: CommandContext,
): number {
  const { stderr } = context;
  const colors = colorsFor(stderr);
  const label = isFailure ? colors.red('error:') : colors.yellow('not run:');
  const demand = isRequired ? ', and CONCORD_REQUIRE asks for it' : '';
  stderr.write(`${label} ${backend}: ${message}${demand} (BACKEND_UNAVAILABLE)\n`);
  if (hint !== null) stderr.write(`${colors.cyan('hint:')} ${hint}\n`);
  return isFailure ? EXIT.failed : EXIT.unavailable;
}
