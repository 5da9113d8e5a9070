import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startProcess } from '#tests/stack/processes.ts';
import { type BenchContext, scaled } from './runner/bench.ts';
import { createFolder } from './runner/servers.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['services', 'projections', 'contracts', 'deploy'];
/** Limit of a first start on a busy machine. */
const START_LIMIT_MS = 600_000;
/** Output when everything runs. */
const STARTED = 'API key';

/** Generated file, whose lines are not counted. */
const GENERATED = 'contracts/client/openapi-types.ts';

const filesOf = (folders: readonly string[]): readonly string[] =>
  folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .filter((file) => file !== GENERATED);

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const linesOf = (folders: readonly string[]): number =>
  filesOf(folders).reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);

const filesWithOneImporter = (): number => {
  const { imports } = JSON.parse(textOf('package.json')) as {
    readonly imports: Readonly<Record<string, string>>;
  };
  const aliases = Object.entries(imports).map(
    ([alias, folder]) => [alias.slice(0, -1), folder.slice(2, -1)] as const,
  );
  const importers = new Map<string, number>();
  for (const file of filesOf(SOURCES)) {
    const imported = [...textOf(file).matchAll(/(?:from|import\()\s*'([#.][^']+\.ts)'/g)].map(
      ([, path = '']) => {
        const alias = aliases.find(([prefix]) => path.startsWith(prefix));
        return alias ? alias[1] + path.slice(alias[0].length) : join(dirname(file), path);
      },
    );
    for (const path of new Set(imported)) importers.set(path, (importers.get(path) ?? 0) + 1);
  }
  return filesOf(SOURCES).filter((file) => importers.get(file) === 1).length;
};

/** Measures `npm start` with an empty data folder and again. */
export const run = async (context: BenchContext<'repository'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  context.record('lines of services, projections, contracts and deploy', linesOf(SOURCES));
  context.record('lines of tests', linesOf(['tests']));
  context.record('files with one importer', filesWithOneImporter());
  const settings = textOf('deploy/SETTINGS.md').matchAll(/^\| `([A-Z][A-Z0-9_]*)`/gm);
  context.record('settings', new Set([...settings].map(([, name]) => name)).size);
  const folder = await createFolder(resources);
  const size = { DEMO_ADS: String(scaled(3_000, 40)) };
  for (const figure of ['first start', 'second start'] as const) {
    const startMs = performance.now();
    const stack = startProcess('deploy/local/main.ts', { ...size, DATA_DIR: join(folder, 'data') });
    resources.defer(() => stack.kill());
    while (!stack.output().includes(STARTED)) {
      if (stack.child.exitCode !== null || performance.now() - startMs > START_LIMIT_MS)
        throw new Error(`npm start did not start:\n${stack.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    context.record(figure, (performance.now() - startMs) / 1_000);
    await stack.stop();
  }
};
