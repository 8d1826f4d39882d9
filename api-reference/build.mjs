// @ts-check
// Writes the API reference to api-reference/dist: a page for each public package and each of its exports, from the
// docstrings. Fails on a link that leads nowhere, and on a type that a page mentions and its package does not export: those that stay
// internal are in typedoc.json of their package.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, Logger, LogLevel } from 'typedoc';
import { findBrokenLinks } from './lib/broken-links.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = fileURLToPath(new URL('dist', import.meta.url));

/** @returns {{ folder: string, name: string, modules: string[] }[]} `modules`: what users import, `@concord/x/sub` */
function publicPackages() {
  return readdirSync(join(root, 'packages')).flatMap((entry) => {
    const folder = join(root, 'packages', entry);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const typed = Object.entries(manifest.exports).filter(([, target]) => typeof target.types === 'string');
    const modules = typed.map(([path]) => manifest.name + path.slice(1));
    return manifest.private ? [] : [{ folder, name: manifest.name, modules }];
  });
}

/** Collects typedoc's warnings and errors, one text each, instead of printing them. */
class CollectingLogger extends Logger {
  /** @type {string[]} */
  messages = [];

  /** @override @param {string} message @param {LogLevel} level */
  log(message, level) {
    super.log(message, level);
    if (level >= LogLevel.Warn) this.messages.push(message);
  }
}

const packages = publicPackages();
const logger = new CollectingLogger();
// Sources have no address on the web that is known here: pages tell file and line as text.
const sources = { disableGit: true, sourceLinkTemplate: '{path}' };
const app = await Application.bootstrapWithPlugins({
  name: 'Concord',
  readme: join(root, 'api-reference/index.md'),
  projectDocuments: [join(root, 'docs/*.md')],
  entryPointStrategy: 'packages',
  entryPoints: packages.map(({ folder }) => folder),
  packageOptions: { excludeInternal: true, excludePrivate: true, ...sources },
  ...sources,
  out,
  cleanOutputDir: true,
  hideGenerator: true,
  validation: { invalidLink: true, invalidPath: true, notExported: true, rewrittenLink: true },
});
app.logger = logger;

const project = await app.convert();
if (project === undefined) {
  console.error(['typedoc could not read the packages:', ...logger.messages].join('\n'));
  process.exit(1);
}

for (const { name, modules } of packages) {
  const page = project.children?.find((child) => child.name === name);
  // A package with one export is its module. One with more has them below it, without a name the first.
  const found = modules.length === 1 ? [page] : (page?.children ?? []);
  for (const module of found) {
    if (module !== undefined && module !== page) module.name = module.name === '' ? name : `${name}/${module.name}`;
  }
  for (const missing of modules.filter((wanted) => !found.some((module) => module?.name === wanted))) {
    logger.error(/** @type {import('typedoc').TranslatedString} */ (`${missing} has no page`));
  }
}
for (const reflection of Object.values(project.reflections)) {
  if (reflection.isDeclaration() || reflection.isSignature()) {
    for (const source of reflection.sources ?? []) delete source.url;
  }
}

app.validate(project);
await app.generateOutputs(project);
const { pages, links, broken } = findBrokenLinks(out);
const problems = [...logger.messages, ...broken.map(({ page, link }) => `${page}: ${link} leads nowhere`)];
for (const problem of problems) console.error(problem);
const modules = packages.flatMap((entry) => entry.modules);
console.log(`api reference: ${packages.length} packages, ${modules.length} modules, ${pages} pages, ${links} links`);
console.log(problems.length > 0 ? `${problems.length} problems` : 'api-reference/dist/index.html');
process.exitCode = problems.length > 0 ? 1 : 0;
