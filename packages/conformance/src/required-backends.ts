/** The backends that `CONCORD_REQUIRE` names: for them a missing device is a failure. */
export function requiredBackends(): readonly string[] {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return (process?.env?.['CONCORD_REQUIRE'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
