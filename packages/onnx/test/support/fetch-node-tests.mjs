// @ts-check
// Unpacks ONNX's own node tests, Debian's package libonnx-testdata, where the system does not have it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PackageStore, unpack } from '../../../../software-devices/vulkan/lib/packages.mjs';
import { speaker, unsupported } from '../../../../software-devices/vulkan/lib/system.mjs';

const DATA = 'usr/share/libonnx-testdata/data/node';
const cache = join(import.meta.dirname, '../../../../.cache/onnx');

/** Where they are when the package is installed, and when it was only unpacked. */
export const INSTALLED = `/${DATA}`;
export const FETCHED = { cache, tests: join(cache, DATA) };

const say = speaker('onnx');

export default function setup() {
  if (existsSync(INSTALLED) || existsSync(FETCHED.tests)) return;
  try {
    const reason = unsupported();
    if (reason !== undefined) throw new Error(reason);
    const [file = ''] = new PackageStore(FETCHED.cache, say).download(['libonnx-testdata']);
    unpack(file, FETCHED.cache, ['./usr/share/libonnx-testdata/data/node/*']);
  } catch (error) {
    // Where devices must be there, so must they.
    if (process.env['CONCORD_REQUIRE']) throw error;
    say(`NOT RUN: ONNX's node tests: ${error instanceof Error ? error.message : String(error)}`);
  }
}
