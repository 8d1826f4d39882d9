import { type Attempt, type DeviceInfo, isBackendError } from '@concord/backend-core';
import { median, type Product } from './product.ts';

/** The text that is shown while something is going on. */
export function showStatus(text: string): void {
  byId('status').textContent = text;
}

/** Greys out the button and the last result. The button keeps the focus, which a disabled one would lose. */
export function showBusy(isBusy: boolean): void {
  document.body.classList.toggle('busy', isBusy);
  byId('start').setAttribute('aria-disabled', String(isBusy));
}

/** The device in use, and the outcome for each backend. */
export function showDevice(backend: string, device: DeviceInfo, attempts: readonly Attempt[]): void {
  const kind = device.type === 'software' ? 'software: shaders run on the CPU' : device.type;
  const facts = { Backend: backend, Device: device.name, Kind: kind, Driver: device.driver };
  byId('facts').replaceChildren(
    ...Object.entries(facts).flatMap(([name, fact]) => [element('dt', name), element('dd', fact)]),
  );
  byId('attempts').replaceChildren(...attempts.map(describeAttempt));
  show('device');
}

function describeAttempt({ provider, outcome, message, hint }: Attempt): HTMLElement {
  const verdict = { selected: 'used', 'not-tried': 'not needed', unavailable: 'not usable' }[outcome];
  const item = element('li', '');
  item.append(element('strong', provider), ` ${verdict}: ${message}`);
  if (hint !== undefined) item.append(element('div', hint, 'hint'));
  return item;
}

/** Time, speed, check and the corner of a product. */
export function showProduct({ n, runs, corner, check }: Product): void {
  const time = median(runs);
  byId('time').textContent = `${significant(time)} ms`;
  byId('speed').textContent = `${significant((2 * n ** 3) / (time * 1e6))} GFLOP/s`;
  byId('runs').textContent = `${n} x ${n}, ${runs.length} runs: ${runs.map(significant).join(', ')} ms`;
  const [error, allowed] = [check.error, check.allowed].map((value) => withMinus(value.toExponential(1)));
  const off = `${error}, where ${allowed} is allowed`;
  byId('check').className = check.passed ? 'passed' : 'failed';
  byId('check').textContent = check.passed
    ? `Check passed: ${check.entries} entries against the float64 oracle. The worst is off by ${off}.`
    : `Check failed: of ${check.entries} entries against the float64 oracle one is off by ${off}.`;
  byId('corner').replaceChildren(
    ...corner.map((row) => {
      const line = element('tr', '');
      line.append(...row.map((value) => element('td', withMinus(value.toFixed(3)))));
      return line;
    }),
  );
  show('result');
}

/** An error in plain words, instead of a result. */
export function showFailure(title: string, error: unknown): void {
  const failure = byId('failure');
  const detail = isBackendError(error) ? error.detail || error.message : String(error);
  failure.replaceChildren(element('strong', title), element('p', detail));
  if (isBackendError(error) && error.hint !== undefined) failure.append(element('p', error.hint, 'hint'));
  hide('result');
  show('failure');
}

/** Takes the last error off the page. */
export function hideFailure(): void {
  hide('failure');
}

/** Three digits that mean something, as people write them. */
function significant(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

/** A minus as wide as a digit, after which no line breaks. */
function withMinus(number: string): string {
  return number.replace('-', '\u2212');
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  text: string,
  className = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
}

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function show(id: string): void {
  byId(id).hidden = false;
}

function hide(id: string): void {
  byId(id).hidden = true;
}
