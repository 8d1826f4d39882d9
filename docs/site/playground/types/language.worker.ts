// TypeScript's own language service over one program, with the types of the packages as built: completion, types under the
// pointer, and mistakes at their place. It evaluates nothing.
import ts from 'typescript';
import type { Answers, Asked, Completion, Mistake } from './language.ts';

const PROGRAM = '/program.ts';
const GLOBALS = `declare const console: { log(...values: unknown[]): void };
declare function setTimeout(callback: () => void, ms?: number): number;
declare const performance: { now(): number };`;

/** By path; the page sends them first. */
const files = new Map([['/globals.d.ts', GLOBALS]]);

const options: ts.CompilerOptions = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] },
  ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleDetection: ts.ModuleDetectionKind.Force },
  ...{ moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'] },
  paths: {
    '@concord/backend-core/*': ['/packages/backend-core/dist/*/index.d.ts'],
    '@concord/*': ['/packages/*/dist/index.d.ts'],
  },
};

let version = 0;
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [PROGRAM, '/modules.d.ts', '/globals.d.ts'],
  getScriptVersion: (name) => (name === PROGRAM ? String(version) : '0'),
  getScriptSnapshot: (name) => {
    const text = files.get(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => '/',
  getDefaultLibFileName: () => '/lib/lib.es2023.d.ts',
  fileExists: (name) => files.has(name),
  readFile: (name) => files.get(name),
});

/** The functions that stand for JavaScript's operators, which compute on numbers alone. */
const FUNCTIONS: Readonly<Record<string, readonly [ops: string, kernel: string]>> = {
  ...{ '+': ['add', 'add'], '-': ['sub', 'sub'], '*': ['mul', 'mul'], '/': ['div', 'div'], '%': ['rem', 'rem'] },
  ...{ '**': ['pow', 'pow'], '<': ['less', 'lt'], '<=': ['lessEqual', 'le'], '>': ['greater', 'gt'] },
  ...{ '>=': ['greaterEqual', 'ge'] },
};

const OPERATOR_ERRORS = new Set([2362, 2363, 2365]);

function mistakeOf({ start = 0, length = 1, code, messageText }: ts.Diagnostic): Mistake {
  const message = ts.flattenDiagnosticMessageText(messageText, '\n');
  const place = { from: start, to: start + length };
  if (!OPERATOR_ERRORS.has(code)) return { ...place, message };
  return adviceAt(start, start + length) ?? { ...place, message };
}

/** What to write instead of an operator between tensors or values of a kernel. */
function adviceAt(start: number, end: number): Mistake | undefined {
  const program = service.getProgram();
  const source = program?.getSourceFile(PROGRAM);
  if (program === undefined || source === undefined) return undefined;
  let found: ts.BinaryExpression | undefined;
  const visit = (node: ts.Node): void => {
    if (node.getStart(source) > start || node.getEnd() < end) return;
    if (ts.isBinaryExpression(node)) found = node;
    node.forEachChild(visit);
  };
  visit(source);
  if (found === undefined) return undefined;
  const [left, right] = [found.left, found.right].map((each) => each.getText(source));
  const types = [found.left, found.right].map((each) => program.getTypeChecker().getTypeAtLocation(each));
  const texts = types.map((type) => program.getTypeChecker().typeToString(type));
  const [ops, kernel] = FUNCTIONS[found.operatorToken.getText(source).replace(/(?<=[+\-*/%])=$/, '')] ?? [];
  const isValue = texts.some((text) => text.includes('Value<'));
  if (ops === undefined || !(isValue || texts.some((text) => text.includes('Tensor')))) return undefined;
  const call = isValue ? `k.${kernel}(${left}, ${right})` : `${ops}(${left}, ${right})`;
  const what = isValue ? 'values of a kernel' : 'tensors';
  return {
    from: found.getStart(source),
    to: found.getEnd(),
    message: `JavaScript's ${found.operatorToken.getText(source)} does not compute on ${what}: write ${call}`,
  };
}

const partsText = (parts: readonly ts.SymbolDisplayPart[] = []): string => ts.displayPartsToString([...parts]);

const ANSWERS: { [Name in keyof Answers]: (place: number, name: string) => Answers[Name] } = {
  mistakes: () => {
    const all = [...service.getSyntacticDiagnostics(PROGRAM), ...service.getSemanticDiagnostics(PROGRAM)].map(
      mistakeOf,
    );
    // TypeScript names both sides of an operator.
    return [...new Map(all.map((mistake) => [`${mistake.from} ${mistake.message}`, mistake])).values()];
  },
  completions: (place) => {
    const { entries = [] } = service.getCompletionsAtPosition(PROGRAM, place, {}) ?? {};
    const own = entries.filter(({ kind, sortText }) => kind !== 'keyword' && sortText < '15');
    return own.map(({ name, kind }): Completion => ({ name, kind }));
  },
  details: (place, name) => {
    const found = service.getCompletionEntryDetails(PROGRAM, place, name, {}, undefined, {}, undefined);
    return [partsText(found?.displayParts), partsText(found?.documentation)].filter((text) => text !== '').join('\n\n');
  },
  hover: (place) => {
    const found = service.getQuickInfoAtPosition(PROGRAM, place);
    if (found === undefined) return undefined;
    const text = [partsText(found.displayParts), partsText(found.documentation)]
      .filter((each) => each !== '')
      .join('\n\n');
    return { from: found.textSpan.start, to: found.textSpan.start + found.textSpan.length, message: text };
  },
};

const scope = globalThis as unknown as {
  postMessage(message: unknown): void;
  addEventListener(
    type: 'message',
    listener: (event: { readonly data: Asked | { readonly files: Readonly<Record<string, string>> } }) => void,
  ): void;
};
scope.addEventListener('message', ({ data }) => {
  if ('files' in data) {
    for (const [path, text] of Object.entries(data.files)) files.set(path, text);
    return;
  }
  const { id, source, what, place = 0, name = '' } = data;
  if (files.get(PROGRAM) !== source) version++;
  files.set(PROGRAM, source);
  scope.postMessage({ id, answer: ANSWERS[what](place, name) });
});
