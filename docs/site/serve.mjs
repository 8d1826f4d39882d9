// @ts-check
// `npm run docs`: serves the site on this machine until Ctrl-C; a change of a page is shown at once.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer } from 'vitepress';

const { values } = parseArgs({ options: { port: { type: 'string', default: '5173' } } });
const server = await createServer(fileURLToPath(new URL('.', import.meta.url)), { port: Number(values.port) });
await server.listen();
server.printUrls();
