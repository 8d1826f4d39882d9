import type { ComputeBackend } from '@concord/backend-core';
import { downloadEntries } from '../limits/check-trial.ts';
import type { Peer } from '../peer.ts';

/** One of our backends through its public interface, checks of pointers and sizes included. */
export function concord(version: string, create: () => ComputeBackend): Peer {
  let open: ComputeBackend | undefined;
  const close = async (): Promise<void> => {
    const backend = open;
    open = undefined;
    await backend?.dispose();
  };
  return {
    name: 'concord',
    role: 'ours',
    version,
    async prepare(limitCase) {
      const backend = open ?? create();
      await backend.init();
      open = backend;
      const trial = limitCase.place(backend);
      return {
        run: () => trial.run(),
        wait: () => backend.synchronize(),
        entries: (indices) => downloadEntries(backend, trial, indices),
        close: async () => {
          trial.free();
          // What has failed in a backend's work stays failed: the next case gets another one.
          await backend.synchronize().catch(close);
        },
      };
    },
    close,
  };
}
