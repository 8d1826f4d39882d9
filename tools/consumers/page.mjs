// In a page: shows the results of the backends named after `?`, or what went wrong.
import { compute } from './compute.mjs';

const output = document.querySelector('output');
output.textContent = await compute(location.search.slice(1).split(',')).catch(String);
