import type { BackendError } from '@concord/backend-core';
import type { WasmOptions } from '../../src/options.ts';
import type { Machine, MachineEvents } from '../../src/pool/machine.ts';
import { openMachine } from '../../src/pool/open-machine.ts';

/** A machine, and the events that it reported. */
export interface TestMachine extends AsyncDisposable {
  readonly machine: Machine;
  readonly failures: readonly BackendError[];
  readonly losses: readonly string[];
  /** The 32-bit words at an address, as they are after all that is queued. */
  words(address: number, count: number): Promise<Uint32Array>;
}

/** Opens a machine for kernels of the tests' own. */
export async function openTestMachine(options: WasmOptions): Promise<TestMachine> {
  const failures: BackendError[] = [];
  const losses: string[] = [];
  const events: MachineEvents = {
    onFailure: (error) => void failures.push(error),
    onLost: (message) => void losses.push(message),
  };
  const { machine } = await openMachine(options, false, events, new AbortController().signal);
  return {
    machine,
    failures,
    losses,
    words: async (address, count) => {
      const words = new Uint32Array(count);
      const bytes = new Uint8Array(words.buffer);
      await machine.read(
        address,
        bytes.byteLength,
        (got) => bytes.set(got),
        () => true,
      );
      return words;
    },
    [Symbol.asyncDispose]: () => machine.close(),
  };
}
