import { multiply } from './multiply.ts';

// What rejects ends as an error event of the worker.
postMessage(await multiply());
