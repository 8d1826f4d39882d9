// @ts-check
// `check-structure.mjs [folder]`: is every file where a reader of this tree looks for it?
import { root } from './lib/paths.mjs';
import { findViolations } from './lib/structure-rules.mjs';

const violations = findViolations(process.argv[2] ?? root);
for (const { file, expected } of violations) console.error(`${file}: expected ${expected}`);
if (violations.length > 0) {
  console.error(`structure: ${violations.length} violation${violations.length > 1 ? 's' : ''}`);
  process.exitCode = 1;
} else {
  console.log('structure: every file in its room');
}
