/** Names what bytes are that often come in the place of a file of weights, with a hint. The first 8 are enough. */
export function standIn(bytes: Uint8Array): { readonly what: string; readonly hint: string } | undefined {
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, 64));
  if (/^\s*<(!doct|html)/i.test(text)) {
    return {
      what: `an HTML page (${JSON.stringify(text.trim().slice(0, 16))}) in the place of a file`,
      hint: 'servers answer a wrong address with a page: open it in a browser. On Hugging Face a file is at /resolve/, on GitHub at /raw/, not at /blob/',
    };
  }
  if (!text.startsWith('version ')) return undefined;
  return { what: 'a Git LFS pointer in the place of a file', hint: 'git lfs pull fetches the file itself' };
}
