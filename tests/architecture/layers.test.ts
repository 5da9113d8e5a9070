import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

/** Resolves every import to its file, so that relative paths are checked too; oxlint checks the `#` aliases only. */
const ROOT = resolve(import.meta.dirname, '../..');
const BELOW_APPLICATION = ['contracts', 'services/domain', 'services/platform', 'projections'];
const BELOW_PROCESSES = [...BELOW_APPLICATION, 'services/application'];

/** Layers that each layer may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  'services/domain': ['contracts'],
  projections: ['contracts'],
  'services/platform': ['contracts'],
  'services/application': BELOW_APPLICATION,
  'services/operations': BELOW_PROCESSES,
  'services/api': [...BELOW_PROCESSES, 'services/operations'],
  'services/mcp': [...BELOW_PROCESSES, 'services/operations'],
  // A program of users: it knows the service by its API only.
  'services/api-cli': ['contracts', 'services/platform'],
  deploy: ['contracts', 'services/domain', 'services/platform'],
};
/** Layers for a process, which imports no other process. */
const PROCESS_MAY_IMPORT = BELOW_PROCESSES;
/** Script that imports the settings of each process. */
const SETTINGS_REFERENCE = 'deploy/write-settings.ts';
const SETTINGS_OF_PROCESS = /^services\/\w+\/settings\.ts$/;
/**
 * Packages of the domain and contracts, all pure. es-toolkit is imported by function, because the whole has two
 * hundred modules.
 */
const DOMAIN_MAY_USE =
  /^(node:(?:crypto|url)|es-toolkit\/(array|object|predicate|string)\/\w+|entities\/decode|tldts|uuid|zod)$/;

const CLIENT = 'contracts/client/';
/** The client speaks HTTP through this package, and runs in browsers. */
const CLIENT_MAY_USE = /^openapi-fetch$/;

const mayUse = (file: string): RegExp => (file.startsWith(CLIENT) ? CLIENT_MAY_USE : DOMAIN_MAY_USE);

const SHARED_BY_PROJECTIONS = ['queries', 'sql', 'shared-tables'];

const IMPORT = /^\s*(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm;

const layerOf = (path: string): string => {
  const [top = '', second = ''] = path.split('/');
  return top === 'services' ? `${top}/${second}` : top;
};

const resolveImport = (file: string, specifier: string): string | null => {
  if (specifier.startsWith('.')) return relative(ROOT, join(ROOT, dirname(file), specifier));
  if (!specifier.startsWith('#')) return null;
  const alias = Object.entries(packageJson.imports).find(([name]) => specifier.startsWith(name.slice(0, -1)));
  if (alias === undefined)
    throw new Error(`${file} imports ${specifier}, which is not an alias of package.json`);
  const [name, target] = alias;
  return target.slice(2).replace('*', specifier.slice(name.length - 1));
};

const importsOf = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].map(
    ([, from, dynamic]) => from ?? dynamic ?? '',
  );

const files = globSync(['contracts/**/*.ts', 'services/**/*.ts', 'projections/**/*.ts', 'deploy/**/*.ts'], {
  cwd: ROOT,
});

test('every file imports only from the layers below its own', () => {
  expect(files.length).toBeGreaterThan(0);
  const violations = files.flatMap((file) => {
    const layer = layerOf(file);
    const allowed = [layer, ...(MAY_IMPORT[layer] ?? PROCESS_MAY_IMPORT)];
    return importsOf(file)
      .map((specifier) => resolveImport(file, specifier))
      .filter((target) => target !== null && target !== 'package.json' && !allowed.includes(layerOf(target)))
      .filter((target) => file !== SETTINGS_REFERENCE || !SETTINGS_OF_PROCESS.test(target ?? ''))
      .map((target) => `${file} imports ${target}`);
  });
  expect(violations).toEqual([]);
});

/** Shared code is at the top of `projections` or in a shared folder. */
test('one projection imports nothing from the folder of another', () => {
  const violations = files
    .filter((file) => file.startsWith('projections/') && file.split('/').length > 2)
    .flatMap((file) =>
      importsOf(file)
        .map((specifier) => resolveImport(file, specifier))
        .filter((target) => target?.startsWith('projections/') && target.split('/').length > 2)
        .filter((target) => target?.split('/')[1] !== file.split('/')[1])
        .filter((target) => !SHARED_BY_PROJECTIONS.includes(target?.split('/')[1] ?? ''))
        .map((target) => `${file} imports ${target}`),
    );
  expect(violations).toEqual([]);
});

test('the domain and the contracts use nothing that does input or output', () => {
  const violations = files
    .filter((file) => file.startsWith('services/domain/') || file.startsWith('contracts/'))
    .flatMap((file) =>
      importsOf(file)
        .filter((specifier) => resolveImport(file, specifier) === null && !mayUse(file).test(specifier))
        .map((specifier) => `${file} imports ${specifier}`),
    );
  expect(violations).toEqual([]);
});

test('the client imports only its own files', () => {
  const violations = files
    .filter((file) => file.startsWith(CLIENT))
    .flatMap((file) =>
      importsOf(file)
        .filter(
          (specifier) =>
            !resolveImport(file, specifier)?.startsWith(CLIENT) && !CLIENT_MAY_USE.test(specifier),
        )
        .map((specifier) => `${file} imports ${specifier}`),
    );
  expect(violations).toEqual([]);
});
