import { BackendError } from '@concord/backend-core';
import type { CheckedOp } from '@concord/backend-core/implement';
import { planAttention } from './attention/plan.ts';
import { planBinary } from './binary/plan.ts';
import { planConv2d } from './conv2d/plan.ts';
import { planGemm, planScale } from './gemm/plan.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from './recorder.ts';
import { planReduce } from './reduce/plan.ts';
import { planUnary } from './unary/plan.ts';
import type { VariantPick } from './variant-choice.ts';

/**
 * The kernels that an op needs, each once. It is planned as it would be for operands in allocations of their own.
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function kernelsOf(op: CheckedOp, traits: DeviceTraits): readonly Kernel[] {
  return [...dryRun(op, traits).kernels];
}

/** The choices between variants that an op makes, one for each panel or window of it. Errors as {@link kernelsOf}. */
export function picksOf(op: CheckedOp, traits: DeviceTraits): readonly VariantPick[] {
  return dryRun(op, traits).picks;
}

function dryRun(op: CheckedOp, traits: DeviceTraits): KernelCollector {
  const recorder = new KernelCollector(traits);
  const elementBytes = op.call.dtype === 'f16' ? 2 : 4;
  const operands: Record<string, Span> = {};
  for (const { name, elements } of op.call.operands) operands[name] = recorder.memory(elements * elementBytes);
  plan({ ...op, call: { ...op.call, ...operands, opName: 'gemm' } }, recorder);
  return recorder;
}

// The operands that a call lists are the ones that its plan takes, so what is a CheckedGemm becomes a ResolvedGemm.
function plan({ hook, call }: { readonly hook: CheckedOp['hook']; readonly call: object }, recorder: Recorder): void {
  const plans = {
    gemm: planGemm,
    scale: planScale,
    conv2d: planConv2d,
    attention: planAttention,
    reduce: planReduce,
    unary: planUnary,
    binary: planBinary,
  };
  plans[hook](call as never, recorder);
}

/** A recorder that notes which kernels would run. */
class KernelCollector implements Recorder {
  readonly traits: DeviceTraits;
  readonly kernels = new Set<Kernel>();
  readonly picks: VariantPick[] = [];
  #buffers = 0;

  constructor(traits: DeviceTraits) {
    this.traits = traits;
  }

  notePick(pick: VariantPick): void {
    this.picks.push(pick);
  }

  launch({ kernel }: Launch): void {
    this.kernels.add(kernel);
  }

  scratch(bytes: number): Span {
    const { maxBufferBytes } = this.traits;
    if (bytes > maxBufferBytes) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest buffer, ${maxBufferBytes}`, {
        requestedBytes: bytes,
        limitBytes: maxBufferBytes,
      });
    }
    return this.memory(bytes);
  }

  copy(): void {}

  /** A span that stands for an allocation of its own. */
  memory(byteLength: number): Span {
    const buffer: StorageBuffer = { id: ++this.#buffers, gpu: NO_BUFFER, size: Math.ceil(byteLength / 4) * 4 };
    return { buffer, byteOffset: 0, byteLength };
  }
}

/** Plans pass buffers on and never look into them. */
const NO_BUFFER = Object.freeze({}) as GPUBuffer;
