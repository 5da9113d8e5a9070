import { readFile, writeFile } from 'node:fs/promises';
import { clientTypes } from './client-types.ts';
import { endpointTable } from './endpoint-table.ts';
import { openApiDocument } from './document.ts';

/** Generates the contract files. `--check` writes nothing and exits with 1 when a committed file is stale. */
const GENERATED: Readonly<Record<string, string>> = {
  'openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'endpoints.md': endpointTable(),
  'client/openapi-types.ts': clientTypes(),
};

for (const [name, text] of Object.entries(GENERATED)) {
  const file = new URL(`../../../contracts/${name}`, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`contracts/${name} is stale. Run: npm run openapi`);
    process.exitCode = 1;
  }
}
