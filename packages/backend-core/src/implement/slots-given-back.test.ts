import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { expectRejection } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { takeSlot } from './address-slots.ts';

/** More than there are slots, many times. */
const MANY = 10_000;

describe('address slots are given back', () => {
  it('by 10,000 opens that fail and are not disposed', async () => {
    const backends: MemoryBackend[] = [];
    for (let i = 0; i < MANY; i++) {
      const backend = new MemoryBackend();
      backend.failing.set('init', new Error('no driver'));
      await backend.init().catch(() => backends.push(backend));
    }
    expect(backends).toHaveLength(MANY);
    expect(backends.every(({ isInitialized }) => !isInitialized)).toBe(true);
    // A failed attempt may be repeated.
    await backends[0]?.init();
    expect(backends[0]?.alloc(4)).toBeGreaterThan(0);
    await backends[0]?.dispose();
  });

  it('by 10,000 objects that are opened and disposed, and as many that are only made', async () => {
    const made: MemoryBackend[] = [];
    for (let i = 0; i < MANY; i++) {
      made.push(new MemoryBackend());
      const backend = await MemoryBackend.create();
      await backend.dispose();
    }
    expect(made).toHaveLength(MANY);
  });

  it('by an init that fails after the opened device, which is closed', async () => {
    class Broken extends MemoryBackend {
      protected override capabilitiesOf(): never {
        throw new Error('no limits');
      }
    }
    const backend = new Broken();
    backend.failing.set('dispose', new Error('nor does it close'));
    await expectRejection(backend.init(), 'BACKEND_UNAVAILABLE', 'no limits');
    expect(backend.hooks).toEqual(['init', 'dispose']);
    await backend.dispose();
    expect(backend.hooks).toEqual(['init', 'dispose']);
  });

  it('once, where a failed object is disposed as well', async () => {
    const failed = new MemoryBackend();
    failed.failing.set('init', new Error('no'));
    await expectRejection(failed.init(), 'BACKEND_UNAVAILABLE');
    await failed.dispose();
    const released = (globalThis as unknown as Record<symbol, { released: number[] }>)[
      Symbol.for('concord.addressSlots')
    ]?.released;
    expect(new Set(released).size).toBe(released?.length);
  });

  it('when an object that was not disposed is collected', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    let owner: object | undefined = await MemoryBackend.create();
    const slot = Math.floor((owner as MemoryBackend).alloc(4) / 2 ** 42);
    owner = undefined;
    const held = {};
    let given: number | undefined;
    // Collected objects are reported in a separate turn.
    for (let turn = 0; turn < 20 && given !== slot; turn++) {
      gc();
      await setImmediate();
      try {
        for (;;) {
          given = takeSlot(held);
          if (given === slot) break;
        }
      } catch {
        // None is left, and that of the object is not yet there.
      }
    }
    expect(given).toBe(slot);
  });
});
