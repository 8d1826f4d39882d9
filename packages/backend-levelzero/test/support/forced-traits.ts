import type { DeviceTraits, Recorder } from '../../src/kernels/recorder.ts';

/** A recorder for which plans are made as for another device. */
export function withTraits(recorder: Recorder, traits: Partial<DeviceTraits>): Recorder {
  return {
    traits: { ...recorder.traits, ...traits },
    launch: (launch) => recorder.launch(launch),
    scratch: (bytes) => recorder.scratch(bytes),
    copy: (dst, src) => recorder.copy(dst, src),
  };
}
