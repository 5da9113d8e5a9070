import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inheritedEnvironment } from '#platform/settings.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';

/** Documents of the contract under an independent linter and runner. */
const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = join(ROOT, '.config/redocly.yaml');
const JOURNEYS = join(ROOT, 'contracts/journeys.arazzo.yaml');
const LIMIT_MS = 120_000;

/** Resolves to the output; of a failed command as well, so that a test shows it. */
const redocly = (command: string, ...args: readonly string[]): Promise<string> =>
  promisify(execFile)(
    process.execPath,
    [join(ROOT, 'node_modules/@redocly/cli/bin/cli.js'), command, ...args],
    {
      cwd: ROOT,
      timeout: LIMIT_MS,
      env: {
        ...inheritedEnvironment(),
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        NO_COLOR: '1',
      },
    },
  ).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `failed\n${stdout}${stderr}`,
  );

test('the OpenAPI document and the journeys are valid by the strictest rules', {
  timeout: LIMIT_MS,
}, async () => {
  for (const document of [join(ROOT, 'contracts/openapi.json'), JOURNEYS]) {
    const output = await redocly('lint', '--config', CONFIG, document);
    expect(output).not.toMatch(/^failed|warning/m);
  }
});

test('every journey runs against the API as the document describes it', { timeout: LIMIT_MS }, async () => {
  const stack = await disposeAfterAll(openApiStack());
  const app = await stack.api();
  const key = await stack.key();
  await stack.seed(['alpha', 'beta']);
  const server = await app.listen({ host: '127.0.0.1', port: 0 });
  const output = await redocly(
    'respect',
    JOURNEYS,
    '--server',
    `api=${server}`,
    '--input',
    `apiKey=${key.text}`,
  );
  expect(output).toMatch(/Workflows: 5 passed, 5 total/);
});
