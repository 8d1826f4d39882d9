import { SpirvError } from '../../src/index.ts';

/** The message of the SpirvError that something throws, or words that say that it throws nothing. */
export function thrown(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof SpirvError) return error.message;
    throw error;
  }
  return 'nothing thrown';
}
