// @ts-check
import { fileURLToPath } from 'node:url';

/** The top of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
