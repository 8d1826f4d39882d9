// @ts-check
// Acts as a third party: in an empty folder, with nothing but packed tarballs and npm, writes the backend of
// docs/writing-a-backend.md from its blocks, builds it, and runs conformance on it. `--keep` keeps the folder.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { textOf, unitsOf } from './lib/docs-code.mjs';
import { root } from './lib/paths.mjs';
import { packAll } from './lib/published.mjs';
import { installPacked, runQuietly, strangersEnvironment } from './lib/run-quietly.mjs';
import { runMain } from './lib/run.mjs';

const GUIDE = 'docs/writing-a-backend.md';
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A backend that adds wrongly: it shows that something really runs. */
const BROKEN = `import { MinimalBackend } from './index.js';
export class BrokenBackend extends MinimalBackend {
  binary(call) {
    super.binary({ ...call, op: call.op === 'add' ? 'sub' : call.op });
  }
}
`;

/** @param {string} folder */
function writeFilesOfGuide(folder) {
  const { units } = unitsOf(readFileSync(join(root, GUIDE), 'utf8'));
  const files = units.filter(({ name }) => !name.startsWith('line-'));
  for (const unit of files) {
    mkdirSync(dirname(join(folder, unit.name)), { recursive: true });
    writeFileSync(join(folder, unit.name), textOf(unit));
  }
  return files.map(({ name }) => name);
}

/**
 * What the guide's backend leaves out is tested where its file is, in examples/minimal-backend.
 *
 * @param {string} file
 * @param {number} least how many cases pass at least
 * @param {boolean} [isWhole] whether none may be unsupported
 */
function judge(file, least, isWhole = false) {
  /** @type {{ backend: string, cases: { status: string }[] }} */
  const { backend, cases } = JSON.parse(readFileSync(file, 'utf8'));
  const count = (/** @type {string} */ status) => cases.filter((result) => result.status === status).length;
  const [passed, failed, unsupported] = [count('passed'), count('failed'), count('unsupported')];
  console.log(`${backend}: ${passed} passed, ${failed} failed, ${unsupported} unsupported`);
  if (backend !== 'minimal' || passed < least || failed > 0 || (isWhole && unsupported > 0))
    throw new Error('that is not what the guide promises');
}

await runMain(async () => {
  const started = performance.now();
  const top = mkdtempSync(join(tmpdir(), 'concord-third-party-'));
  try {
    const [packed, project] = [join(top, 'packed'), join(top, 'project')];
    for (const folder of [packed, project]) mkdirSync(folder);
    const all = packAll(root, packed);
    const isOwn = (/** @type {{ name: string }} */ { name }) => /^@concord\/(backend-core|kernel)$/.test(name);
    const own = all.filter(isOwn).map(({ tarball }) => tarball);
    const others = all.filter((each) => !isOwn(each)).map(({ tarball }) => tarball);
    const inProject = { cwd: project, env: strangersEnvironment() };

    console.log(`wrote ${writeFilesOfGuide(project).join(', ')}`);
    installPacked(project, own);
    installPacked(project, ['--save-dev', ...others, `typescript@${devDependencies.typescript}`]);
    for (const name of readdirSync(join(project, 'node_modules/@concord'))) {
      const folder = join(project, 'node_modules/@concord', name);
      if (lstatSync(folder).isSymbolicLink()) throw new Error(`${name} is linked, not installed`);
    }

    runQuietly('npm', ['run', 'build'], inProject);
    runQuietly('npm', ['run', 'conformance', '--', '--json', 'report.json'], inProject);
    judge(join(project, 'report.json'), 2500);
    const concord = ['--no-install', 'concord'];
    const topK = ['conformance', '--module', './dist/with-top-k.js', '--filter', 'topK', '--json', 'top-k.json'];
    runQuietly('npx', [...concord, ...topK], inProject);
    judge(join(project, 'top-k.json'), 150, true);
    runQuietly('npx', [...concord, 'fuzz', '--module', 'my-backend', '--count', '50', '--seed', '7'], inProject);

    writeFileSync(join(project, 'dist/broken.js'), BROKEN);
    const broken = ['conformance', '--module', './dist/broken.js', '--filter', 'binary'];
    const output = runQuietly('npx', [...concord, ...broken], { ...inProject, expected: 1 });
    if (!output.includes('FAILED binary/')) throw new Error(`a wrong sum was not found:\n${output}`);
    console.log(`third party: a backend by the guide passes (${((performance.now() - started) / 1000).toFixed(0)} s)`);
    return 0;
  } finally {
    if (process.argv.includes('--keep')) console.log(`kept ${top}`);
    else rmSync(top, { recursive: true, force: true });
  }
});
