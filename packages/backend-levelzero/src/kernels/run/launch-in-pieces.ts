import { secondsFor } from '../work.ts';
import { gridOf } from '../grid.ts';
import type { Launch, Recorder } from '../recorder.ts';

/** Seconds of one launch, by the estimate: kernel drivers take a device for hung whose work does not end within several. */
const MAX_SECONDS = 1;

/** A launch whose kernel takes the items from `first` on. */
export interface ItemLaunch extends Pick<Launch, 'kernel' | 'args' | 'variant'> {
  /** Multiply-adds of all of it. */
  readonly work: number;
}

/** Launches a kernel over all of its items, in as many launches as bound the time of each. */
export function launchInPieces(
  recorder: Recorder,
  { kernel, args, variant, work }: ItemLaunch,
  { items, perGroup }: { readonly items: number; readonly perGroup: number },
): void {
  const { traits } = recorder;
  const groups = Math.ceil(items / perGroup);
  const pieces = Math.min(groups, Math.max(1, Math.ceil(secondsFor(work, traits) / MAX_SECONDS)));
  const perPiece = Math.ceil(groups / pieces);
  for (let start = 0; start < groups; start += perPiece) {
    const count = Math.min(perPiece, groups - start);
    recorder.launch({
      kernel,
      args: { ...args, first: start * perGroup, items: Math.min(items, (start + count) * perGroup) },
      groups: gridOf(count, traits),
      multiplyAdds: (work * count) / groups,
      ...(variant === undefined ? {} : { variant }),
    });
  }
}
