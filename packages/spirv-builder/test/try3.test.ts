import { expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { assemble, disassemble } from '../src/text/index.ts';
import { randomModule } from './support/text-random-module.ts';
import { spirvDis, spirvAs } from './support/text-tools.ts';
let state = Number(process.env.SEED ?? 1);
const random = (end: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * end);
};
const attempt = (f: () => unknown) => {
  try {
    return { value: f() };
  } catch (e) {
    return { error: String((e as Error).message), name: (e as Error).name };
  }
};
test('words', () => {
  const base = new Uint32Array(Uint8Array.from(readFileSync('/tmp/b2/u4.spv')).buffer);
  const log = new Map<string, number>();
  for (let i = 0; i < 1200; i++) {
    const words = i % 2 ? base.slice() : randomModule(random, 1);
    const at = 5 + random(words.length - 5);
    words[at] = [
      0,
      1,
      words[at]! ^ (1 << random(32)),
      words[random(words.length)]!,
      random(70000),
      words[at]! + 1,
      words[at]! - 1,
    ][random(7)]!;
    const cut = random(10) === 0 ? words.slice(0, random(words.length)) : words;
    const ours: any = attempt(() => disassemble(cut, { friendlyNames: true }));
    const theirs: any = attempt(() => spirvDis(cut));
    if (ours.error && ours.name !== 'SpirvTextError') throw new Error(ours.error);
    if (ours.error === undefined && theirs.error === undefined) {
      if (ours.value !== theirs.value) {
        const a = ours.value.split('\n'),
          b = theirs.value.split('\n');
        const k = a.findIndex((l: string, j: number) => l !== b[j]);
        log.set(`DIFF ${a[k]} | ${b[k]}`, 1);
      } else {
        const r = attempt(() => assemble(disassemble(cut, { friendlyNames: false }))) as any;
        if (!r.value || r.value.slice(5).join() !== cut.slice(5).join())
          log.set(
            'ROUND ' + (r.error ?? dif(r.value, cut)),
            (log.get('ROUND ' + (r.error ?? dif(r.value, cut))) ?? 0) + 1,
          );
      }
      continue;
    }
    if ((ours.error === undefined) !== (theirs.error === undefined)) {
      const k = `ours ${ours.error ?? 'OK'} | theirs ${theirs.error ?? 'OK'}`.replace(/\d+/g, '#');
      log.set(k, (log.get(k) ?? 0) + 1);
    }
  }
  console.log(
    [...log]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 70)
      .map(([k, n]) => `${n} ${k}`)
      .join('\n'),
  );
}, 300000);
const dif = (a: Uint32Array, b: Uint32Array) => {
  const k = b.findIndex((w, i) => i > 5 && w !== a[i]);
  let s = 5;
  while (s + (b[s]! >>> 16) <= k) s += b[s]! >>> 16;
  return `op ${b[s]! & 0xffff} ${a[k]?.toString(16)} ${b[k]!.toString(16)}`;
};
