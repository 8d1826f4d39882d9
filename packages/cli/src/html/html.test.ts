import { expect, test } from 'vitest';
import { Html, html } from './html.ts';

test('escapes text in elements and in attributes', () => {
  const text = `<script>"&'`;
  expect(html`<p title="${text}">${text}</p>`.text).toBe(
    '<p title="&#60;script&#62;&#34;&#38;&#39;">&#60;script&#62;&#34;&#38;&#39;</p>',
  );
});

test('leaves HTML as it is, joins lists and leaves nothing out', () => {
  expect(html`${new Html('<b>')}${[html`<i>${1}</i>`, '<', ['&']]}${undefined}${false}${0}`.text).toBe(
    '<b><i>1</i>&#60;&#38;0',
  );
});
