import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, forceLinting, lintKeymap, linter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Fault } from './kernel/fault.ts';
import { syntaxFaultOf } from './kernel/transpile.ts';
import type { Language } from './types/language.ts';

/** The events of the editor. */
export interface EditorListener {
  readonly onChange: () => void;
  /** Ctrl-Enter, or Cmd-Enter. */
  readonly onRun: () => void;
  /** Completes names, and marks what does not fit; without it only what cannot be parsed is marked. */
  readonly language?: Language;
}

/** The editor of a program. */
export interface Editor {
  source(): string;
  /** Replaces the program; Undo brings the old one back. */
  replace(source: string): void;
  /** Marks the line of a fault, or none. */
  mark(fault: Fault | undefined): void;
  destroy(): void;
}

/**
 * Makes an editor of TypeScript. Tab leaves it, as in a form: who uses the keyboard alone has to come past. Mistakes are
 * marked while one types; nothing is evaluated.
 */
export function createEditor(parent: HTMLElement, source: string, listener: EditorListener): Editor {
  const { onChange, onRun, language } = listener;
  /** What the last run found, until the next change. */
  let fault: Fault | undefined;
  const problems = async ({ state }: EditorView): Promise<Diagnostic[]> => {
    const text = state.doc.toString();
    const found = language === undefined ? diagnosticsOf(state, syntaxFaultOf(text)) : await mistakesIn(text, language);
    return [...diagnosticsOf(state, fault), ...found];
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: source,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        javascript({ typescript: true }),
        language === undefined ? [] : typesOf(language),
        syntaxHighlighting(COLORS),
        linter(problems, { delay: 500 }),
        EditorView.contentAttributes.of({ 'aria-label': 'Program in TypeScript; Control and Enter runs it' }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (!docChanged) return;
          fault = undefined;
          onChange();
        }),
        keymap.of([
          { key: 'Mod-Enter', run: () => (onRun(), true) },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        THEME,
      ],
    }),
  });
  return {
    source: () => view.state.doc.toString(),
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    mark: (found) => {
      fault = found;
      // One that comes from a run changes no text, which alone would bring the problems up to date.
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, found)));
      forceLinting(view);
    },
    destroy: () => view.destroy(),
  };
}

function diagnosticsOf({ doc }: EditorState, fault: Fault | undefined): Diagnostic[] {
  if (fault?.line === undefined) return [];
  const line = doc.line(Math.min(Math.max(1, fault.line), doc.lines));
  // From the first word on: a mark over the indent says nothing.
  const indent = /^\s*/.exec(line.text)?.[0].length ?? 0;
  return [{ from: line.from + indent, to: line.to, severity: 'error', message: fault.message }];
}

async function mistakesIn(source: string, language: Language): Promise<Diagnostic[]> {
  const found = await language.ask('mistakes', { source });
  return found.map((mistake) => ({ ...mistake, severity: 'error' }));
}

/** Completion with signatures, and the type of what the pointer is over. */
function typesOf(language: Language): Extension {
  const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { state, pos } = context;
    const source = state.doc.toString();
    const word = context.matchBefore(/[\w$]*/)?.text ?? '';
    if (!context.explicit && word === '' && context.matchBefore(/[.'"]/) === null) return null;
    const found = await language.ask('completions', { source, place: pos });
    const options = found.map(({ name, kind }) => ({
      label: name,
      type: kind === 'method' ? 'function' : kind,
      info: async () => textNode(await language.ask('details', { source, place: pos, name })),
    }));
    return { from: pos - word.length, options, validFor: /^[\w$]*$/ };
  };
  const hover = hoverTooltip(async ({ state }, place) => {
    const found = await language.ask('hover', { source: state.doc.toString(), place });
    if (found === undefined) return null;
    return { pos: found.from, end: found.to, create: () => ({ dom: textNode(found.message) }) };
  });
  return [autocompletion({ override: [complete] }), hover];
}

/** A signature and what it does. */
function textNode(text: string): HTMLElement {
  return Object.assign(document.createElement('div'), { className: 'pg-type', textContent: text });
}

const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.moduleKeyword], color: 'var(--pg-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--pg-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--pg-number)' },
  { tag: [tags.comment], color: 'var(--pg-comment)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--pg-type)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--pg-function)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: '0.85rem', color: 'var(--vp-c-text-1)', backgroundColor: 'var(--vp-code-block-bg)' },
  '&.cm-focused': { outline: '2px solid var(--vp-c-brand-1)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--vp-font-family-mono)', lineHeight: '1.55', minHeight: '18rem' },
  '.cm-content': { caretColor: 'var(--vp-c-text-1)', padding: '0.75rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--vp-c-text-1)' },
  '.cm-gutters': { backgroundColor: 'var(--vp-code-block-bg)', color: 'var(--vp-c-text-2)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--vp-c-default-soft)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--pg-selection) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--vp-c-bg-elv)',
    color: 'var(--vp-c-text-1)',
    border: '1px solid var(--vp-c-divider)',
  },
  '.pg-type': { whiteSpace: 'pre-wrap', maxWidth: '32rem', padding: '0.4rem 0.6rem', fontSize: '0.8rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--vp-c-brand-3)', color: '#fff' },
});
