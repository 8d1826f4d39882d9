import { shapeOf } from '@concord/variants';
import { gridOf } from '../grid.ts';
import type { Recorder } from '../recorder.ts';
import { direct, DIRECT_LANES, type DirectParams } from './direct.spv.ts';
import { type Call, type Conv2dTable, FEW_FILTERS, imagesInTime, multiplyAddsOf, windowArguments } from './table.ts';

/** By id, fewest filters first. */
const PARAMS_OF: ReadonlyMap<string, DirectParams> = new Map(
  [1, 8].map((filters) => [`conv2d/direct-${filters}`, { filters }]),
);

/** Convolution of any shape, without workgroup memory. */
export const directTable: Conv2dTable = {
  ids: [...PARAMS_OF.keys()],
  kernelsFor: () => [...PARAMS_OF.values()].map(direct),
  candidates: ({ filterShape, groups }) => {
    const [few, many] = directTable.ids.map((id) => ({ id })) as [{ id: string }, { id: string }];
    const variants = filterShape[0] / groups >= FEW_FILTERS ? [many, few] : [few, many];
    return { variants, preferred: variants[0] as { id: string }, rank: 1 };
  },
  launch: (call, variant, recorder) => {
    const params = { id: variant.id, ...shapeOf(PARAMS_OF, variant) };
    for (const part of imagesInTime(call, recorder.traits)) launchPart(part, params, recorder);
  },
};

function launchPart(call: Call, params: DirectParams & { readonly id: string }, recorder: Recorder): void {
  const { inputShape, filterShape, outputShape, groups, input, filter, output } = call;
  const filters = filterShape[0] / groups;
  const outputPlane = outputShape[2] * outputShape[3];
  const places = outputShape[0] * outputPlane;
  recorder.launch({
    kernel: direct({ filters: params.filters }),
    args: {
      input,
      filter,
      output,
      groups,
      filters,
      channels: filterShape[1],
      height: inputShape[2],
      width: inputShape[3],
      filter_height: filterShape[2],
      filter_width: filterShape[3],
      output_width: outputShape[3],
      output_plane: outputPlane,
      places,
      ...windowArguments(call),
    },
    groups: gridOf(groups * Math.ceil(filters / params.filters) * Math.ceil(places / DIRECT_LANES), recorder.traits),
    multiplyAdds: multiplyAddsOf(call),
    variant: params.id,
  });
}
