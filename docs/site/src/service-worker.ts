// Keeps the site for use without a network, and isolates its pages from other origins, which static hosts often cannot be
// told to do: threads of WebAssembly need SharedArrayBuffer, and that needs isolation.
import { Serwist, type SerwistPlugin } from 'serwist';

declare const self: ServiceWorkerGlobalScope & { __SW_MANIFEST: (string | { url: string; revision: string | null })[] };

const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const isolating: SerwistPlugin = {
  handlerWillRespond: async ({ response }) => {
    // Those of redirects cannot be made anew.
    if (response.status === 0 || response.redirected) return response;
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  },
};

const serwist = new Serwist({
  precacheEntries: self.__SW_MANIFEST,
  precacheOptions: { cleanupOutdatedCaches: true, plugins: [isolating] },
  clientsClaim: true,
});
serwist.addEventListeners();
