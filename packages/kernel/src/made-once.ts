/** The value of a key, which is made and kept if there is none yet. */
export function madeOnce<Key, T>(
  kept: { get(key: Key): T | undefined; set(key: Key, value: T): unknown },
  key: Key,
  make: () => T,
): T {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = make();
  kept.set(key, made);
  return made;
}
