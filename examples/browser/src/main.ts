import { BackendError } from '@concord/backend-core';
import { multiply } from './product.ts';
import { type Preference, Session } from './session.ts';
import { hideFailure, showBusy, showDevice, showFailure, showProduct, showStatus } from './view.ts';

const form = document.getElementById('form') as HTMLFormElement;
let isBusy = false;
const session = new Session();
const FRAME_MS = 20;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!isBusy) void run();
});
void run();

async function run(): Promise<void> {
  const choices = new FormData(form);
  const preference = choices.get('backend') as Preference;
  const n = Number(choices.get('size'));
  isBusy = true;
  showBusy(true);
  hideFailure();
  try {
    await step('Looking for a device');
    const { backend, attempts } = await session.open(preference, (message) => {
      const hint = 'Multiply again to start on a new one.';
      showFailure('The device was lost', new BackendError('DEVICE_LOST', message, { hint }));
    });
    showDevice(backend.name, backend.device, attempts);
    showProduct(await multiply(backend, n, step));
    showStatus('Ready');
  } catch (error) {
    showFailure('That did not work', error);
    showStatus('Ready to try again');
  } finally {
    isBusy = false;
    showBusy(false);
  }
}

/** Says what comes next, and lets the browser draw it: in plain JavaScript the work itself leaves no time for that. */
async function step(text: string): Promise<void> {
  showStatus(`${text} ...`);
  await new Promise((resolve) => {
    setTimeout(resolve, FRAME_MS);
  });
}
