import { WasmBackend } from '@concord/backend-wasm';
import { testOn } from './support/test-on.ts';

testOn(new WasmBackend());
