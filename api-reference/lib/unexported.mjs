// @ts-check
const notIncluded = /^(\S+), defined in (@[\w-]+\/[\w-]+)\/\S+, is referenced by \S+ but not included/;

/**
 * Typedoc's messages without those about types that are known to stay internal, and a message for each such type that no message
 * mentions any more.
 *
 * @param {readonly string[]} messages
 * @param {Readonly<Record<string, readonly string[]>>} internal the names by package
 * @returns {string[]}
 */
export function withoutInternalTypes(messages, internal) {
  const seen = new Set();
  const left = messages.filter((message) => {
    const [, name = '', owner = ''] = notIncluded.exec(message) ?? [];
    if (internal[owner]?.includes(name) !== true) return true;
    seen.add(`${owner} ${name}`);
    return false;
  });
  const unused = Object.entries(internal).flatMap(([owner, names]) =>
    names
      .filter((name) => !seen.has(`${owner} ${name}`))
      .map((name) => `${name} of ${owner} need not be listed in internal-types.mjs any more`),
  );
  return [...left, ...unused];
}
