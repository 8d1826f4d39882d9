import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 1024;

/**
 * An HTTP server that no client keeps from ending. A request has `timeoutMs` for its headers; for its answer the listener must see
 * to the same. `close` waits for the requests there are, not for connections that have sent none, or half of one's headers.
 */
export function boundedServer(
  timeoutMs: number,
  listener: RequestListener,
): { readonly server: Server; readonly close: () => Promise<void> } {
  const limits = {
    headersTimeout: timeoutMs,
    requestTimeout: 2 * timeoutMs,
    connectionsCheckingInterval: timeoutMs / 10,
  };
  const requests = new Map<Socket, number>();
  const server = createServer(limits, (request, response) => {
    const { socket } = request;
    const count = (by: number): void => {
      const before = requests.get(socket);
      if (before !== undefined) requests.set(socket, before + by);
    };
    count(1);
    response.once('close', () => count(-1));
    listener(request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    requests.set(socket, 0);
    socket.once('close', () => requests.delete(socket));
  });
  const close = async (): Promise<void> => {
    const closed = once(server.close(), 'close');
    for (const [socket, count] of requests) if (count === 0) socket.destroy();
    // By then each request has its answer, which its client may never read.
    const late = setTimeout(() => server.closeAllConnections(), 1.1 * timeoutMs);
    await closed;
    clearTimeout(late);
  };
  return { server, close };
}
