import { selectBackend } from '@concord/backend-core';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { div, matmul, max, mul, resize, reshape, softmax, tensor, tidy, transpose } from '@concord/ops';
import { show, slider } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const sharpness = slider('sharpness', { min: 0.5, max: 30, value: 8 });
const words = 'the cat sat on the mat because the cat was tired and the mat was warm'.split(' ');

// Each word as the pairs of letters in it: words that are spelt alike are near each other.
const pairs = 26 * 26;
const letters = new Float32Array(words.length * pairs);
words.forEach((word, row) => {
  for (let i = 0; i + 1 < word.length; i++) {
    const pair = 26 * (word.charCodeAt(i) - 97) + word.charCodeAt(i + 1) - 97;
    letters[row * pairs + pair] = 1 / Math.sqrt(word.length - 1);
  }
});

// How much each word looks at each other one: the softmax of their products, as in a transformer.
const map = tidy(() => {
  const x = tensor(backend, letters, [words.length, pairs]);
  return softmax(mul(matmul(x, transpose(x)), sharpness));
});
const shown = tidy(() => {
  const image = reshape(div(map, max(map)), [1, 1, words.length, words.length]);
  const side = 20 * words.length;
  return reshape(resize(image, [side, side], { mode: 'nearest' }), [side, side]);
});
await show(shown, 'who looks at whom');
const shares = await map.toArray();
words.forEach((word, row) => {
  const own = [...shares.slice(row * words.length, (row + 1) * words.length)].map(
    (share, i) => [words[i], share] as const,
  );
  const best = own.sort(([, a], [, b]) => Number(b) - Number(a)).slice(0, 3);
  console.log(`${word}: ${best.map(([other, share]) => `${other} ${Math.round(100 * Number(share))} %`).join(', ')}`);
});
