import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { observationSchemas } from './observation-schemas.ts';

/** Generates `contracts/observation-schemas/`. With `--check` it exits with 1 when a committed file is stale. */
const FOLDER = new URL('../../../contracts/observation-schemas/', import.meta.url);

const expected = new Map(
  observationSchemas().map(({ type, schema }) => [`${type}.json`, `${JSON.stringify(schema, null, 2)}\n`]),
);
const present = await readdir(FOLDER).catch(() => []);
const leftover = present.filter((name) => !expected.has(name));

if (process.argv.includes('--check')) {
  const stale = [...leftover];
  for (const [name, text] of expected) {
    if ((await readFile(new URL(name, FOLDER), 'utf8').catch(() => '')) !== text) stale.push(name);
  }
  for (const name of stale)
    console.error(`contracts/observation-schemas/${name} is stale. Run: npm run schemas`);
  if (stale.length > 0) process.exitCode = 1;
} else {
  await mkdir(FOLDER, { recursive: true });
  for (const name of leftover) await rm(new URL(name, FOLDER));
  for (const [name, text] of expected) await writeFile(new URL(name, FOLDER), text);
}
