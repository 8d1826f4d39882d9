import { type BackendProvider, type ComputeBackend, isBackendError } from '@concord/backend-core';
import type { CommandContext } from '../context.ts';
import { tryBackend } from '../choose-backend.ts';
import { isTunable } from '../tune/tune-run.ts';
import { present } from '../objects.ts';
import type { BenchBackend } from './bench-run.ts';
import { messageOf } from '../command-error.ts';

/** A backend, open if it can be used. */
export interface OpenedBackend extends BenchBackend {
  readonly opened?: ComputeBackend;
}

/** Opens backends, one after the other. */
export async function openBackends(
  providers: readonly BackendProvider[],
  context: CommandContext,
): Promise<readonly OpenedBackend[]> {
  const all: OpenedBackend[] = [];
  for (const provider of providers) {
    const { report, notRun } = await tryBackend<Opened>(provider, context, () => open(provider));
    const opened = report?.opened;
    const device = opened?.device ?? null;
    all.push({
      ...{ backend: provider.name, device },
      ...(opened === undefined ? {} : { opened, ...variantChoices(opened) }),
      ...present({ notRun }),
    });
  }
  return all;
}

/** The forced variants and the tuning profile, which decide between the kernels of a backend besides itself. */
function variantChoices(backend: ComputeBackend): Pick<OpenedBackend, 'forced' | 'tuning'> {
  const forced = backend.variants?.().forced ?? [];
  return {
    ...(forced.length === 0 ? {} : { forced }),
    ...(isTunable(backend) ? { tuning: backend.native.tuning.profile } : {}),
  };
}

interface Opened {
  readonly opened?: ComputeBackend;
  readonly notRun?: string;
  readonly failed?: number;
}

async function open(provider: BackendProvider): Promise<Opened> {
  const opened = await provider.create();
  try {
    await opened.init();
    return { opened };
  } catch (error) {
    await opened.dispose().catch(() => undefined);
    if (isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    // Something was there and broke; the other backends can still be measured.
    return { notRun: messageOf(error), failed: 1 };
  }
}
