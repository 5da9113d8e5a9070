import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi.ts';

/** Writes the contract down, or with `--check` says whether what is written is what the endpoints say. */
const FILE = new URL('../../contracts/openapi.json', import.meta.url);
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv.includes('--check')) {
  const written = await readFile(FILE, 'utf8').catch(() => '');
  if (written !== text) {
    console.error('contracts/openapi.json is stale. Run: npm run openapi');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, text);
}
