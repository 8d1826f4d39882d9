import type { ComputeBackend } from '@concord/backend-core';
import { downloadEntries } from '../limits/check-trial.ts';
import { notOffered, type Peer } from '../peer.ts';
import type { Work } from '../work.ts';

/** What tells one of ours from the plain one. */
export interface ConcordOptions {
  /** Default: `concord`, in the role of ours. With a name of its own it is ours with an option. */
  readonly name?: string;
  readonly remark?: string;
  /** The ops that are worth timing. Default: all. */
  readonly ops?: readonly Work['op'][];
}

/** One of our backends through its public interface, checks of pointers and sizes included. */
export function concord(version: string, create: () => ComputeBackend, options: ConcordOptions = {}): Peer {
  const { name = 'concord', remark, ops } = options;
  let open: ComputeBackend | undefined;
  const close = async (): Promise<void> => {
    const backend = open;
    open = undefined;
    await backend?.dispose();
  };
  return {
    name,
    role: name === 'concord' ? 'ours' : 'option',
    version,
    ...(remark === undefined ? {} : { remark }),
    async prepare(limitCase) {
      if (ops?.includes(limitCase.op) === false) notOffered(limitCase.work);
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
