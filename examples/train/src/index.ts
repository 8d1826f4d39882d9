/** The training, for a page. */
export { fit, type FitOptions, type Fitted, SHAPE } from './fit.ts';
