// Runtimes have these types; a program's library, `lib` and `types` of its tsconfig.json, may not. Where it does, the
// declarations here are one with those there and add nothing; where it does not, the types of this package still compile.
declare global {
  interface AbortSignal {}
}

export {};
