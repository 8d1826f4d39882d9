import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintKeymap, linter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { defineKernel } from '@concord/backend-core/kernel';
import type { Fault } from './kernel/fault.ts';
import { syntaxFaultOf } from './kernel/transpile.ts';

/** The events of the editor. */
export interface EditorListener {
  readonly onChange: () => void;
  /** Ctrl-Enter, or Cmd-Enter. */
  readonly onRun: () => void;
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
 * Makes an editor of TypeScript. Tab leaves it, as in a form: who uses the keyboard alone has to come past. What cannot be
 * parsed is marked while one types; nothing is evaluated.
 */
export function createEditor(parent: HTMLElement, source: string, { onChange, onRun }: EditorListener): Editor {
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
        autocompletion({ override: [builderMethods] }),
        syntaxHighlighting(COLORS),
        linter(({ state }) => diagnosticsOf(state, syntaxFaultOf(state.doc.toString())), { delay: 500 }),
        EditorView.contentAttributes.of({ 'aria-label': 'Program in TypeScript; Control and Enter runs it' }),
        EditorView.updateListener.of(({ docChanged }) => void (docChanged && onChange())),
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
    mark: (fault) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, fault))),
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

/** The methods of a kernel builder, after `k.`. */
function builderMethods(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/\bk\.\w*/);
  if (word === null) return null;
  return { from: word.from + 2, options: METHODS.map((label) => ({ label, type: 'function' })), validFor: /^\w*$/ };
}

const METHODS = methodsOfBuilder();

function methodsOfBuilder(): readonly string[] {
  let names: readonly string[] = [];
  defineKernel('names', {}, (_, k) => {
    names = Object.keys(k);
    return { y: k.toF32(k.index(0)) };
  });
  return names;
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
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--vp-c-text-2)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--vp-c-default-soft)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--pg-selection) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--vp-c-bg-elv)',
    color: 'var(--vp-c-text-1)',
    border: '1px solid var(--vp-c-divider)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--vp-c-brand-3)', color: '#fff' },
});
