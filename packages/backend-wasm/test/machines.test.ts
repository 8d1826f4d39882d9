import { describe, expect, it } from 'vitest';
import { atomic, i32 } from '../src/encoder/index.ts';
import type { WasmCode } from '../src/kernels/kernel.ts';
import { LAYOUT } from '../src/pool/layout.ts';
import { openTestMachine } from './support/open-test-machine.ts';
import { tileCode } from './support/tile-code.ts';

const MACHINES = [
  { mode: 'threads', threads: 3 },
  { mode: 'threads', threads: 1 },
  { mode: 'worker' },
  { mode: 'inline' },
] as const;

describe.each(MACHINES)('commands on %o', (options) => {
  it('run one after the other, each tile once, also when the ring comes round', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const tiles = 37;
    const x = machine.heap.take(tiles * 4);
    machine.write(x, new Uint8Array(tiles * 4));
    // 3 x + 1 + the tile, which tells orders and counts apart.
    const code = tileCode(machine.traits, (body, args, tile) => {
      const at = body.let(i32.add(i32.load(args), i32.mul(tile, 4)));
      body.emit(i32.store(at, i32.add(i32.mul(i32.load(at), 3), i32.add(i32.load(args, 4), tile))));
    });
    const want = new Uint32Array(tiles);
    for (let step = 0; step < 2500; step++) {
      const count = 1 + ((step * 7) % tiles);
      machine.launch({ code, args: [x, step], tiles: count });
      for (let tile = 0; tile < count; tile++) want[tile] = Math.imul(want[tile] as number, 3) + step + tile;
    }
    expect(await test.words(x, tiles)).toEqual(want);
  });

  it('that follow a read do not change what it gives', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const tiles = 500;
    const x = machine.heap.take(4 * tiles);
    machine.write(x, new Uint8Array(4 * tiles));
    const code = tileCode(machine.traits, (body, args, tile) => {
      const at = body.let(i32.add(i32.load(args), i32.mul(tile, 4)));
      body.emit(i32.store(at, i32.add(i32.load(at), 1)));
    });
    const reads = Array.from({ length: 100 }, () => {
      for (let i = 0; i < 5; i++) machine.launch({ code, args: [x], tiles });
      return test.words(x, tiles);
    });
    for (const [turn, read] of reads.entries()) expect(new Set(await read)).toEqual(new Set([5 * turn + 5]));
  });

  it('have as many words as they need', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const counts = [1, 112, 113, 5000];
    const y = machine.heap.take(4 * 5000);
    const code = tileCode(machine.traits, (body, args, tile) => {
      const offset = body.let(i32.mul(tile, 4));
      body.emit(i32.store(i32.add(i32.load(args), offset), i32.load(i32.add(args, offset))));
    });
    for (const count of counts) {
      const words = Uint32Array.from({ length: count }, (_, i) => (i === 0 ? y : i * 2654435761));
      machine.launch({ code, args: words, tiles: count });
      // After it, memory of the words is free again.
      machine.launch({ code, args: [y], tiles: 1, scratchBytes: 100 });
      expect(await test.words(y, count)).toEqual(words);
    }
  });

  it('keep the memory that they use until they are done', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const [x, y] = [machine.heap.take(4096), machine.heap.take(4096)];
    const code = tileCode(machine.traits, (body, args, tile) => {
      body.emit(i32.store(i32.add(i32.load(args), i32.mul(tile, 4)), tile));
    });
    // Runs until so many commands are queued.
    const gate = tileCode(machine.traits, (body, args) => {
      const queued = atomic.compareExchange(4, 4 * LAYOUT.queued, 0, 0);
      body.while(i32.ltS(queued, i32.load(args)), () => undefined);
    });
    const given: (readonly [until: number])[] = [];
    const give = machine.heap.give.bind(machine.heap);
    machine.heap.give = (address, until) => {
      given.push([until]);
      give(address, until);
    };
    const works = [
      () => machine.write(x, new Uint8Array(4096)),
      () => machine.launch({ code, args: [x], tiles: 8, scratchBytes: 64 }),
      () => machine.launch({ code, args: Uint32Array.from({ length: 400 }, () => y), tiles: 8 }),
      () => {
        const address = machine.temporary(256);
        machine.launch({ code, args: [address], tiles: 8 });
        machine.endOp();
      },
    ];
    const before = machine.queued;
    const open = before + 2 + works.length;
    if (options.mode === 'threads') machine.launch({ code: gate, args: [open], tiles: 1 });
    for (const work of works) {
      const first = given.length;
      work();
      for (const [until] of given.slice(first)) expect(until).toBe(machine.queued);
    }
    // Machines that copy what they queue give memory back at once, and know no numbers.
    if (options.mode === 'threads') {
      expect(machine.queued).toBe(open - 1);
      expect(given.length).toBeGreaterThanOrEqual(works.length);
      machine.launch({ code, args: [x], tiles: 1 });
    }
    await machine.finish(() => true);
  });

  it('have separate memory for each thread', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const tiles = 200;
    const y = machine.heap.take(4 * tiles);
    const code = tileCode(machine.traits, (body, args, tile, scratch) => {
      body.emit(i32.store(i32.add(i32.load(args), i32.mul(tile, 4)), scratch));
    });
    machine.launch({ code, args: [y], tiles, scratchBytes: 100 });
    const used = [...new Set(await test.words(y, tiles))].sort((a, b) => a - b);
    expect(used.length).toBeLessThanOrEqual(machine.traits.threads);
    for (const address of used) expect([address % 64, (address - (used[0] as number)) % 128]).toEqual([0, 0]);
    expect((used.at(-1) as number) - (used[0] as number)).toBeLessThan(128 * machine.traits.threads);
    expect(machine.heap.take(128 * machine.traits.threads)).toBeLessThanOrEqual(used[0] as number);
  });

  it('are known again after more codes than there is room for', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const y = machine.heap.take(64);
    const codeOf = (value: number) =>
      tileCode(machine.traits, (body, args) =>
        body.emit(i32.store(i32.load(args), i32.add(i32.load(i32.load(args)), value))),
      );
    machine.write(y, new Uint8Array(4));
    const first = codeOf(1);
    for (let i = 0; i < 1100; i++) {
      machine.launch({ code: i % 400 === 0 ? first : codeOf(1000), args: [y], tiles: 1 });
    }
    machine.launch({ code: first, args: [y], tiles: 1 });
    expect(await test.words(y, 1)).toEqual(Uint32Array.of(1097 * 1000 + 4));
  });

  it.each([
    ['trap', (code: WasmCode) => code, 'unreachable'],
    ['do not compile', ({ bytes }: WasmCode) => ({ bytes: bytes.subarray(0, 9) }), 'CompileError'],
  ])('that %s end the machine with an error that says so', async (_, change, want) => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const code = change(tileCode(machine.traits, (body) => body.unreachable()));
    const wait = async (): Promise<void> => {
      machine.launch({ code, args: [0], tiles: 5 });
      await machine.finish(() => true);
    };
    const detail = expect.stringMatching(`^a kernel failed: .*${want}`) as string;
    await expect(wait()).rejects.toMatchObject({ code: 'DEVICE_ERROR', detail });
    // Nothing that comes later looks as if it were right.
    await expect(wait()).rejects.toMatchObject({ code: 'DEVICE_ERROR', detail });
  });

  it('are listed with memory that is given to no other command, and queued again and again', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const tiles = 40;
    const out = machine.heap.take(4 * tiles);
    // to[tile] = from[tile] + 1, by way of the thread's own memory.
    const code = tileCode(machine.traits, (body, args, tile, scratch) => {
      const offset = body.let(i32.shl(tile, 2));
      body.emit(i32.store(scratch, i32.load(i32.add(i32.load(args), offset))));
      body.emit(i32.store(i32.add(i32.load(args, 4), offset), i32.add(i32.load(scratch), 1)));
    });
    const words = [0, 0];
    const places: number[] = [];
    const list = machine.list(() => {
      // Two ops: out += 2 through memory that lasts for one of them.
      for (let op = 0; op < 2; op++) {
        const own = machine.temporary(4 * tiles);
        places.push(own);
        for (const [from, to] of [[out, own] as const, [own, out] as const]) {
          words[0] = from;
          words[1] = to;
          machine.launch({ code, args: words, tiles, scratchBytes: 4 });
        }
        machine.endOp();
      }
    });
    words.fill(0);
    machine.write(out, new Uint8Array(4 * tiles));
    expect(places[1]).toBe(places[0]);
    const others = Array.from({ length: 12 }, () => machine.heap.take(4 * tiles));
    for (const other of others) machine.write(other, new Uint8Array(4 * tiles).fill(7));

    for (let turn = 0; turn < 50; turn++) list.run();
    expect(new Set(await test.words(out, tiles))).toEqual(new Set([200]));
    for (const other of others) expect(new Set(await test.words(other, tiles))).toEqual(new Set([0x07070707]));

    // Another list has the same scratch memory.
    const listed = machine.listedBytes;
    const second = machine.list(() => machine.launch({ code, args: [out, out], tiles, scratchBytes: 4 }));
    expect(machine.listedBytes).toBe(listed);
    second.run();
    list.run();
    expect(new Set(await test.words(out, tiles))).toEqual(new Set([205]));
    second.release();

    list.release();
    expect(machine.listedBytes).toBe(0);
    expect(machine.heap.take(4 * tiles)).toBe(places[0]);
  });

  it.each([
    ['in order', [0, 1, 2]],
    ['the last first', [2, 1, 0]],
    ['the largest first', [1, 0, 2]],
  ])('of lists share scratch memory until the last list is released: %s', async (_, order) => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const y = machine.heap.take(4);
    // They only tell where it is: what is written to a wrong place could be the command ring.
    const code = tileCode(machine.traits, (body, args, _tile, scratch) =>
      body.emit(i32.store(i32.load(args), scratch)),
    );
    const lists = [64, 4096, 128].map((scratchBytes) =>
      machine.list(() => machine.launch({ code, args: [y], tiles: 1, scratchBytes })),
    );
    const shared = machine.listedBytes;
    const places = new Set<number>();
    for (const [released, index] of order.entries()) {
      expect(machine.listedBytes).toBe(shared);
      const other = machine.heap.take(shared);
      for (const next of order.slice(released)) {
        lists[next]?.run();
        const [first = 0] = await test.words(y, 1);
        // Some thread's part of it.
        const part = shared / machine.traits.threads;
        expect(first < other + shared && other < first + part, 'is that of another').toBe(false);
        places.add(first);
      }
      machine.heap.give(other, machine.queued);
      lists[index]?.release();
    }
    expect(places.has(0)).toBe(false);
    expect(machine.listedBytes).toBe(0);
  });

  it('give their memory back when they cannot be listed', async () => {
    await using test = await openTestMachine(options);
    const { machine } = test;
    const free = machine.heap.freeBytes;
    expect(() =>
      machine.list(() => {
        machine.temporary(1000);
        machine.endOp();
        throw new RangeError('not planned');
      }),
    ).toThrow('not planned');
    expect(machine.heap.freeBytes).toBe(free + 1024);
    // Commands launched from now on run.
    const y = machine.heap.take(64);
    machine.launch({
      code: tileCode(machine.traits, (body, args) => body.emit(i32.store(i32.load(args), i32.const(5)))),
      args: [y],
      tiles: 1,
    });
    expect(await test.words(y, 1)).toEqual(Uint32Array.of(5));
  });
});
