import type { CheckedConv2d } from '@concord/backend-core/implement';
import { type Family, type NamedVariant, sizeStep, VariantTables } from '@concord/variants';
import { floatResults } from '../run/plan.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { directTable } from './direct.spv.ts';
import { implicitGemmTable } from './implicit-gemm.spv.ts';
import type { Call } from './table.ts';
import { wideTable } from './wide.ts';

type ChooseVariant = (call: Call, recorder: Recorder) => NamedVariant;

/** Kernels that convolve. A new one is added here, and nothing else has to know of it. */
export const conv2dTables: VariantTables<CheckedConv2d, Call, Recorder, Kernel> = new VariantTables(
  [implicitGemmTable, wideTable, directTable],
  ({ inputShape, filterShape, outputShape, groups }) => {
    const [filters, channels, filterHeight, filterWidth] = filterShape;
    const places = inputShape[0] * outputShape[2] * outputShape[3];
    return `conv2d ${filterHeight}x${filterWidth} ${[groups, filters / groups, channels, places].map(sizeStep).join(' ')}`;
  },
);

/** conv2dForward. */
export const conv2dFamily: Family<'conv2dForward', DeviceMemory, Recorder, Kernel> = {
  kernel: 'conv2dForward',
  dtypes: ['f32', 'f16'],
  features: ['epilogues', 'transposed', 'dtypeFilter f16', 'dtypeFilter bf16'],
  plan: planConv2d,
  tables: [conv2dTables],
};

/**
 * conv2dForward: `output[n, k, p, q] = sum over c, r, s of input * filter`, by the kernel that suits shape and device.
 *
 * @param choose - how the kernel is chosen, for tests of one
 */
export function planConv2d(
  call: Call,
  recorder: Recorder,
  choose: ChooseVariant = (floats) => conv2dTables.choose(floats, recorder),
): void {
  floatResults.convolution(call, recorder, (floats) => {
    conv2dTables.launch(floats, choose(floats, recorder), recorder);
    return false;
  });
}
