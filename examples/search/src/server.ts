import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { UserError } from '@concord/example-command';
import type { Question, SearchIndex } from './search-index.ts';

type SearchServer = Readonly<{ url: string; close: () => Promise<unknown> }>;
const MAX_BODY_LENGTH = 16_384;
const MAX_BATCH = 64;
/** The minimum of `limits.maxTopK`. */
export const MAX_TOP = 256;
/** HTTP status by an error's code; that of other bad requests is 400. */
const STATUS: Readonly<Record<string, number>> = { FORBIDDEN: 403, NOT_FOUND: 404, TIMEOUT: 408, TOO_LARGE: 413 };

/**
 * Answers `POST /search` with `{ "question", "top" }` on this machine only; errors are `{ "error": { "code", "message" } }`.
 * A request has `timeoutMs` for its headers, and as long from then to its answer. `close` waits for the requests there are, not
 * for other connections.
 */
export async function startServer(index: SearchIndex, port: number, timeoutMs = 10_000): Promise<SearchServer> {
  const search = batched((questions: Question[]) => index.search(questions, { timeoutMs }), MAX_BATCH);
  const limits = {
    headersTimeout: timeoutMs,
    requestTimeout: 2 * timeoutMs,
    connectionsCheckingInterval: timeoutMs / 10,
  };
  const waiting = new Set<Promise<unknown>>();
  const server = createServer(limits, (request, response) => {
    const closed: Promise<unknown> = once(response, 'close').then(() => waiting.delete(closed));
    waiting.add(closed);
    const send = (status: number, body: unknown): void => {
      clearTimeout(timer);
      if (response.headersSent) return;
      // What is still to come of a late request is not waited for.
      if (status === 408 || !server.listening) response.setHeader('connection', 'close');
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    };
    const fail = (error: Error & { code?: string }): void => {
      const { code = 'UNEXPECTED', message } = error;
      send(error instanceof UserError ? (STATUS[code] ?? 400) : 500, { error: { code, message } });
    };
    const timer = setTimeout(() => fail(new UserError('TIMEOUT', `no answer in ${timeoutMs} ms`)), timeoutMs);
    const answer = async (): Promise<void> => send(200, await search(await questionOf(request)));
    answer().catch(fail);
  });
  const close = async (): Promise<void> => {
    const closed = once(server.close(), 'close');
    // By then each request has its answer, which its client may never read.
    await Promise.race([Promise.all(waiting), wait(1.1 * timeoutMs, undefined, { ref: false })]);
    server.closeAllConnections();
    await closed;
  };
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function questionOf(request: IncomingMessage): Promise<Question> {
  const { method, url, headers } = request;
  // A web page could ask by its own name that points here.
  const isLocal = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(headers.host ?? '');
  if (!isLocal) throw new UserError('FORBIDDEN', 'ask by 127.0.0.1');
  if (`${method} ${url}` !== 'POST /search') throw new UserError('NOT_FOUND', `only POST /search, no ${method} ${url}`);
  let body = '';
  // Read to its end, not kept: the connection can be used again.
  for await (const chunk of request.setEncoding('utf8')) if (body.length <= MAX_BODY_LENGTH) body += chunk;
  if (body.length > MAX_BODY_LENGTH) throw new UserError('TOO_LARGE', `the body is longer than ${MAX_BODY_LENGTH}`);
  const given: unknown = await new Response(body).json().catch(() => undefined);
  const { question, top = 5 } = (given ?? {}) as Partial<Question>;
  if (typeof question === 'string' && Number.isInteger(top) && top > 0 && top <= MAX_TOP) return { question, top };
  throw new UserError('BAD_REQUEST', 'the body must be JSON: { "question": text, "top": 1 to 256 }');
}

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
