import { describe, expect, it } from 'vitest';
import { printable } from './printable.ts';

describe('printable', () => {
  it('spells out what a terminal would obey', () => {
    expect(printable('\u001B[31mred\u001B[0m')).toBe(String.raw`\u001b[31mred\u001b[0m`);
    expect(printable('title\u001B]0;gone\u0007')).toBe(String.raw`title\u001b]0;gone\u0007`);
    expect(printable('over\rwritten\b')).toBe(String.raw`over\u000dwritten\u0008`);
    expect(printable('\u009B2J\u007F\u0000')).toBe(String.raw`\u009b2J\u007f\u0000`);
    expect(printable('\u202Egnp.exe\u2066')).toBe(String.raw`\u202egnp.exe\u2066`);
  });

  it('keeps text as it is', () => {
    const text = 'NVIDIA® GeForce™ — 日本語 😀\nsecond line';
    expect(printable(text)).toBe(text);
    expect(printable('a\tb\r\nc')).toBe('a\tb\nc');
  });

  it('leaves no control character of any text', () => {
    const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');
    expect(printable(all)).not.toMatch(/(?![\n\t])\p{Cc}/u);
  });
});
