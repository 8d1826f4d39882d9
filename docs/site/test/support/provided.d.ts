import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder that is served; the site is in `some/folder` below it. */
    servedFolder: string;
  }
}
