import { globSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES_MAX = 15;
/** Folders with files of one kind, found by name and not by reading the list. */
const CATALOGUES = ['tests/projections'];

const sources = globSync('{contracts,services,projections,deploy,tests}/**/*.{ts,js,mjs,sql}', { cwd: ROOT });

test('no folder but a catalogue holds more than fifteen source files', () => {
  const folders = Map.groupBy(sources, (file) => dirname(file));
  const large = [...folders]
    .filter(([folder, files]) => files.length > SOURCES_MAX && !CATALOGUES.includes(folder))
    .map(([folder, files]) => `${folder}: ${files.length}`);
  expect(sources.length).toBeGreaterThan(0);
  expect(large).toEqual([]);
});

test('every catalogue is one: it exists and is larger than other folders', () => {
  for (const catalogue of CATALOGUES) {
    expect(sources.filter((file) => dirname(file) === catalogue).length, catalogue).toBeGreaterThan(
      SOURCES_MAX,
    );
  }
});
