/** The module that programs of the playground import, besides the packages. */
declare module 'playground' {
  // oxlint-disable-next-line typescript/consistent-type-imports -- a file with an import declares no module
  type Api = import('./kernel/program-api.ts').PlaygroundModule;
  export const run: Api['run'];
  export const picture: Api['picture'];
  export const noise: Api['noise'];
  export const show: Api['show'];
  export const slider: Api['slider'];
}

/** The site's own plugin gives a file and what it imports as the text of one script. */
declare module '*?bundled' {
  const text: string;
  export default text;
}

/** Vite gives the text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}

/** Vite gives the files that match. */
interface ImportMeta {
  glob<T>(patterns: string | readonly string[], options: object): Record<string, T>;
}
