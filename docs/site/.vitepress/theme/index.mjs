// @ts-check
import DefaultTheme from 'vitepress/theme';
import './style.css';

/** @type {import('vitepress').Theme} */
export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (import.meta.env.SSR) return;
    if (import.meta.env.PROD) registerServiceWorker();
    const after = router.onAfterRouteChange;
    router.onAfterRouteChange = async (to) => {
      await after?.(to);
      if (router.route.data.frontmatter['isolated'] === true) isolatePage();
    };
  },
};

/** Keeps the site for use without a network, from the next page on. */
function registerServiceWorker() {
  if (!('serviceWorker' in navigator)) return;
  const worker = new URL(`${import.meta.env.BASE_URL}sw.js`, location.href);
  navigator.serviceWorker.register(worker).catch((error) => console.warn('Not kept for use without a network:', error));
}

/**
 * Loads the page again if that isolates it from other origins: pages that want threads of WebAssembly say `isolated: true`
 * in their frontmatter. The first page that a browser loads is not isolated, unless the host sends the headers: the service
 * worker that adds them is not there yet.
 */
function isolatePage() {
  if (globalThis.crossOriginIsolated || navigator.serviceWorker?.controller == null) return;
  // A browser that does not isolate the second time would not do so the third time.
  if (sessionStorage.getItem('isolated') !== null) return;
  sessionStorage.setItem('isolated', 'tried');
  location.reload();
}
