import { setImmediate } from 'node:timers/promises';

/** Makes a function that answers questions in batches, one at a time: what comes during one is in the next. */
export function batched<Q, A>(answer: (questions: Q[]) => Promise<A[]>, max: number): (question: Q) => Promise<A> {
  let batch: Q[] = [];
  let answers: Promise<A[]> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return async (question) => {
    if (answers === undefined || batch.length === max) {
      const questions: Q[] = (batch = []);
      answers = last.then(async () => {
        // Requests that have arrived already are taken first.
        await setImmediate();
        if (batch === questions) answers = undefined;
        return answer(questions);
      });
      last = answers.catch(() => undefined);
    }
    const place = batch.push(question) - 1;
    return (await answers)[place] as A;
  };
}
