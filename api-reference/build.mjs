// @ts-check
// Writes the API reference as pages of the site to api-reference/pages: a page for each module that users import, from the
// docstrings, and `functions.md`, all functions for tensors by topic. Fails on a type that a page mentions and its package does not
// export: those that stay internal are in typedoc.json of their package. The site's own build checks the links.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, Logger, LogLevel } from 'typedoc';
import { functionsPage } from './lib/functions-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = fileURLToPath(new URL('pages', import.meta.url));

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
  name: 'API reference',
  plugin: ['typedoc-plugin-markdown'],
  readme: 'none',
  entryPointStrategy: 'packages',
  entryPoints: packages.map(({ folder }) => folder),
  packageOptions: { excludeInternal: true, excludePrivate: true, readme: 'none', ...sources },
  ...sources,
  out,
  cleanOutputDir: true,
  ...{ router: 'module', entryFileName: 'index', excludeScopesInPaths: true },
  ...{ hideBreadcrumbs: true, hidePageHeader: true, disableSources: true, useCodeBlocks: true, sanitizeComments: true },
  // As VitePress reads them: it would count names that occur twice in another way.
  ...{ useCustomAnchors: true, customAnchorsFormat: 'curlyBrace' },
  ...{ parametersFormat: 'table', propertiesFormat: 'table', typeDeclarationFormat: 'table', indexFormat: 'table' },
  validation: { invalidLink: true, invalidPath: true, notExported: true, rewrittenLink: true },
});
app.logger = logger;

const project = await app.convert();
if (project === undefined) {
  console.error(['typedoc could not read the packages:', ...logger.messages].join('\n'));
  process.exit(1);
}

// What a function takes apart in its head has no name there.
for (const each of Object.values(project.reflections)) if (each.name === '__namedParameters') each.name = 'options';

// A package with one export is its module. One with more has them below it, without a name the first; here each is by itself.
const modules = packages.flatMap(({ name, modules: wanted }) => {
  const page = project.children?.find((child) => child.name === name);
  const found = wanted.length === 1 ? [page] : (page?.children ?? []);
  if (page !== undefined) project.removeChild(page);
  return found.flatMap((module) => {
    if (module === undefined) return [];
    if (module !== page) module.name = module.name === '' ? name : `${name}/${module.name}`;
    module.parent = project;
    project.addChild(module);
    return [module];
  });
});
for (const group of project.groups ?? []) group.children = modules;
for (const missing of packages.flatMap((entry) => entry.modules)) {
  if (modules.some(({ name }) => name === missing)) continue;
  logger.error(/** @type {import('typedoc').TranslatedString} */ (`${missing} has no page`));
}

app.validate(project);
await app.generateOutputs(project);
writeFileSync(join(out, 'functions.md'), functionsPage(modules));
for (const problem of logger.messages) console.error(problem);
console.log(`api reference: ${packages.length} packages, ${modules.length} modules`);
console.log(logger.messages.length > 0 ? `${logger.messages.length} problems` : 'api-reference/pages/index.md');
process.exitCode = logger.messages.length > 0 ? 1 : 0;
