import { BackendError } from '@concord/backend-core';
import type { CheckedOp } from '@concord/backend-core/implement';
import { planAttention } from './attention/plan.ts';
import { planBinary } from './binary/plan.ts';
import { checkGroups } from './check-groups.ts';
import { planConv2d } from './conv2d/plan.ts';
import { planGemm, planScale } from './gemm/plan.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch, Recorder, Span } from './recorder.ts';
import { planReduce } from './reduce/plan.ts';
import { planUnary } from './unary/plan.ts';

/**
 * The kernels that an op needs, each once. It is planned as it would be for operands in allocations of their own.
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function kernelsOf(op: CheckedOp, traits: DeviceTraits): readonly Kernel[] {
  const recorder = new KernelCollector(traits);
  const elementBytes = op.call.dtype === 'f16' ? 2 : 4;
  const operands: Record<string, Span> = {};
  for (const { name, elements } of op.call.operands) operands[name] = recorder.memory(elements * elementBytes);
  plan({ ...op, call: { ...op.call, ...operands, opName: 'gemm' } }, recorder);
  return [...recorder.kernels];
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

/** Where the made-up allocations start, and how far apart they are: aligned as real ones. */
const FIRST_ADDRESS = 2n ** 40n;
const DISTANCE = 2n ** 40n;

/** A recorder that notes which kernels would run. */
class KernelCollector implements Recorder {
  readonly traits: DeviceTraits;
  readonly kernels = new Set<Kernel>();
  #count = 0;

  constructor(traits: DeviceTraits) {
    this.traits = traits;
  }

  launch({ kernel, groups }: Launch): void {
    checkGroups(kernel, groups, this.traits);
    this.kernels.add(kernel);
  }

  scratch(bytes: number): Span {
    const { maxAllocationBytes } = this.traits;
    if (bytes > maxAllocationBytes) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest allocation, ${maxAllocationBytes}`, {
        requestedBytes: bytes,
        limitBytes: maxAllocationBytes,
      });
    }
    return this.memory(bytes);
  }

  copy(): void {}

  /** A span that stands for an allocation of its own. */
  memory(byteLength: number): Span {
    const address = FIRST_ADDRESS + BigInt(this.#count) * DISTANCE;
    return { buffer: { id: ++this.#count, address, size: byteLength }, byteOffset: 0, byteLength };
  }
}
