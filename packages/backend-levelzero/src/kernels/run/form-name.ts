import type { RunForm } from './form.ts';

/** A form and what else a kernel is made of, in a few words: the kernel's name for people, and all of it in one number. */
export function formName(form: RunForm, rest: object): string {
  const { kernel, width, rowRank, foldedRank, index, inputs, outputs } = form;
  const dtypes = [...inputs, ...outputs].map(({ dtype }) => dtype).join(' ');
  const key = JSON.stringify([formKey(form), rest]);
  return `${kernel.name} ${dtypes} rank ${rowRank}+${foldedRank} x${width} ${index} ${hash(key)}`;
}

/** A form as text: equal for equal code. */
export function formKey(form: RunForm): string {
  return JSON.stringify({ ...form, kernel: form.kernel.key });
}

/** FNV-1a, in 53 bits: 32 of one and 21 of another. */
function hash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 11).toString(16).padStart(6, '0');
}
