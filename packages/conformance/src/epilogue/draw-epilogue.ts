import type { Random } from '../harness/random.ts';
import { EPILOGUE_KERNELS } from './kernels.ts';
import type { EpilogueParams } from './planned-epilogue.ts';

type Drawn = Omit<EpilogueParams, 'seed'>;

/** The epilogue of cases that have none. */
export const NO_EPILOGUE: Drawn = { epilogue: '', view: 'dense', stored: 'own' };

/** An epilogue for every third drawn case. */
export function drawEpilogue(random: Random, rank: number): Drawn {
  if (random.chance(2 / 3)) return NO_EPILOGUE;
  const axes = Array.from({ length: rank }, (_, axis) => `axis ${axis}`);
  return {
    epilogue: random.pick(Object.keys(EPILOGUE_KERNELS)),
    view: random.pick(['dense', 'padded', 'transposed', 'permuted', 'repeated', 'scalar', ...axes]),
    stored: random.pick(['own', 'own', 'f16', 'bf16', 'u8']),
  };
}

/** Plainer epilogues; never none, which would be another check. */
export function shrinkEpilogue({ epilogue, view, stored }: EpilogueParams): Partial<Drawn>[] {
  if (epilogue === '') return [];
  return [
    ...(epilogue === 'bias' || epilogue === 'copy' ? [] : [{ epilogue: 'copy' }, { epilogue: 'bias' }]),
    ...(view === NO_EPILOGUE.view ? [] : [{ view: NO_EPILOGUE.view }]),
    ...(stored === NO_EPILOGUE.stored ? [] : [{ stored: NO_EPILOGUE.stored }]),
  ];
}
