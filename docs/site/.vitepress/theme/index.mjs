// @ts-check
import DefaultTheme from 'vitepress/theme';
import { isolatePage, registerServiceWorker } from '../../src/service-worker-client.mjs';
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
