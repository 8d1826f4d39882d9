// In Node, Deno and Bun: prints the results of the backends named in its arguments.
import process from 'node:process';
import { compute } from './compute.mjs';

console.log(await compute(process.argv.slice(2)));
