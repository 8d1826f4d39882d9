import { type BackendProvider, selectBackend } from '@concord/backend-core';
import { requiredBackends as namesRequired } from '@concord/conformance';
import { CommandError } from './command-error.ts';
import { EXIT } from './exit-codes.ts';
import { nearIds } from './near-ids.ts';

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
    code: 'INVALID_ARGUMENT',
    exitCode,
    hint: `${suggestion}check ${origin}; concord devices lists what works here`,
  });
}
