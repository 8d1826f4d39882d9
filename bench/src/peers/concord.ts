import type { ComputeBackend } from '@concord/backend-core';
import { placeWork } from '@concord/cli/bench';
import { notOffered, type Peer } from '../peer.ts';
import type { Work } from '../limits/cases.ts';

/** A backend that is not the plain one. */
export interface ConcordOptions {
  /** Default: `concord`, in the role of ours. Under another name it is ours with an option. */
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
      const placed = placeWork(limitCase, backend);
      return {
        run: () => void placed.call(),
        wait: () => backend.synchronize(),
        entries: (indices) => placed.entries(indices),
        close: async () => {
          placed.free();
          // What has failed in a backend's work stays failed: the next case gets another one.
          await backend.synchronize().catch(close);
        },
      };
    },
    close,
  };
}
