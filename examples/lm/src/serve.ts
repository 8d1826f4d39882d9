import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Batch, type TextRequest } from './batch.ts';
import type { Decoder } from './decoder.ts';
import { chatText, type Message, type ModelFiles, tokensOf } from './model.ts';
import { type Making, textOf } from './token-text.ts';

/** Options of {@link serve}. */
export interface ServeOptions {
  /** For clients. */
  readonly name: string;
  /** Texts at the same time. */
  readonly size: number;
  /** Texts that may wait for a place; those after them are refused with 429. */
  readonly queue: number;
}

/** Bytes of a request at most. */
const MAX_BYTES = 2 ** 20;

/** What is wrong with a request. */
class Refused extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, message: string, type = 'invalid_request_error') {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** A request, checked. */
interface Asked extends Omit<TextRequest, 'signal'> {
  readonly isStream: boolean;
  readonly stop: readonly string[];
}

/**
 * A server with OpenAI's interface for chats: `POST /v1/chat/completions`, streamed or whole, and `GET /v1/models`. Texts that are asked
 * for at the same time are continued together.
 *
 * @returns the server, which does not listen yet; whoever closes it disposes `batch` after it
 */
export function serve(model: Decoder, files: ModelFiles, options: ServeOptions): { server: Server; batch: Batch } {
  const { name, size, queue } = options;
  const batch = new Batch(model, { size });
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, type } = error instanceof Refused ? error : { status: 500, type: 'server_error' };
      const { message, code = null } = error as Error & { readonly code?: string };
      const body = { error: { message, type, code } };
      if (response.headersSent) response.end(`data: ${JSON.stringify(body)}\n\n`);
      else send(response, status, body);
    });
  });
  return { server, batch };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://host').pathname;
    if (request.method === 'GET' && path === '/v1/models') {
      return send(response, 200, { object: 'list', data: [{ id: name, object: 'model', owned_by: 'concord' }] });
    }
    if (path !== '/v1/chat/completions') throw new Refused(404, `there is no ${path}`);
    if (request.method !== 'POST') throw new Refused(405, `${path} is asked by POST`);
    const asked = read(await bodyOf(request));
    if (batch.waiting >= batch.free + queue) throw new Refused(429, `${queue} texts wait already`, 'rate_limit_error');
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the client is gone')));
    await complete(asked, response, gone.signal);
  }

  async function complete(asked: Asked, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const head = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: name };
    const chunk = (delta: object, reason: string | null): string => {
      const choices = [{ index: 0, delta, finish_reason: reason }];
      return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`;
    };
    const making: Making = { tokens: 0, isStopped: false, first: 0 };
    let content = '';
    if (asked.isStream) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      response.write(chunk({ role: 'assistant', content: '' }, null));
    }
    for await (const piece of textOf(batch, files.tokenizer, { ...asked, signal }, making)) {
      content += piece;
      if (asked.isStream && piece !== '') response.write(chunk({ content: piece }, null));
    }
    const { tokens, isStopped } = making;
    const reason = !isStopped && tokens >= asked.tokens ? 'length' : 'stop';
    if (asked.isStream) return void response.end(`${chunk({}, reason)}data: [DONE]\n\n`);
    const { length } = asked.prompt;
    const usage = { prompt_tokens: length, completion_tokens: tokens, total_tokens: length + tokens };
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }];
    send(response, 200, { ...head, object: 'chat.completion', choices, usage });
  }

  function read(body: Readonly<Record<string, unknown>>): Asked {
    const number = (field: string, otherwise: number, least: number, most: number): number => {
      const value = body[field] ?? otherwise;
      if (typeof value === 'number' && value >= least && value <= most) return value;
      throw new Refused(400, `${field} must be a number from ${least} to ${most}, got ${JSON.stringify(value)}`);
    };
    const { messages } = body;
    const isText = (each: unknown): each is Message =>
      typeof Object(each).role === 'string' && typeof Object(each).content === 'string';
    if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isText)) {
      throw new Refused(400, 'messages must be a list of { role, content }, both texts');
    }
    const stop = [body['stop'] ?? []].flat();
    if (!stop.every((each): each is string => typeof each === 'string')) throw new Refused(400, 'stop must be texts');
    const prompt = tokensOf(files, chatText(files, messages));
    const { context } = model.config;
    if (prompt.length >= context) throw new Refused(400, `${prompt.length} tokens, the model takes ${context - 1}`);
    if (prompt.length === 0) throw new Refused(400, 'the messages are empty');
    const most = Math.floor(number('max_tokens', number('max_completion_tokens', context, 1, 2 ** 31), 1, 2 ** 31));
    return {
      ...{ prompt, stop, isStream: body['stream'] === true, tokens: Math.min(most, context - prompt.length) },
      temperature: number('temperature', 1, 0, 2),
      topP: number('top_p', 1, 0, 1),
      seed: number('seed', Math.floor(Math.random() * 2 ** 32), 0, 2 ** 32 - 1),
    };
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let bytes = 0;
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    // All of it is read: a client that still writes would not see the answer.
    if (bytes <= MAX_BYTES) parts.push(part);
  }
  if (bytes > MAX_BYTES) throw new Refused(413, `a request has at most ${MAX_BYTES} bytes`);
  try {
    return Object(JSON.parse(Buffer.concat(parts).toString())) as Record<string, unknown>;
  } catch (error) {
    throw new Refused(400, `the request is not JSON: ${(error as Error).message}`);
  }
}
