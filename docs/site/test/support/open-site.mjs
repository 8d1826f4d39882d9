// @ts-check
import { createServer } from 'node:http';
import sirv from 'sirv';
import { inject } from 'vitest';

/**
 * Serves the built site on this machine from `/some/folder/`, without any header of isolation, as a static host does.
 *
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function openSite() {
  const served = inject('servedFolder');
  const server = createServer(sirv(served, { dev: true }));
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://localhost:${port}/some/folder/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
