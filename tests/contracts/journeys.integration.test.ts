import { validate } from '@scalar/openapi-parser';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inheritedEnvironment } from '#platform/settings.ts';
import { findCachedPackage } from '#tests/cached-package.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';

/** Documents of the contract under three independent linters and a runner. */
const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = join(ROOT, '.config/redocly.yaml');
const DOCUMENT = join(ROOT, 'contracts/openapi.json');
const JOURNEYS = join(ROOT, 'contracts/journeys.arazzo.yaml');
const LIMIT_MS = 300_000;
/** It brings 200 packages, so it is installed into the cache. */
const spectralFolder = await findCachedPackage('@stoplight/spectral-cli', '6.16.3');

/** Resolves to the output; of a failed command as well, so that a test shows it. */
const runProgram = (program: string, ...args: readonly string[]): Promise<string> =>
  promisify(execFile)(process.execPath, [program, ...args], {
    cwd: ROOT,
    timeout: LIMIT_MS,
    env: {
      ...inheritedEnvironment(),
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      NO_COLOR: '1',
    },
  }).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `failed\n${stdout}${stderr}`,
  );

const redocly = (command: string, ...args: readonly string[]): Promise<string> =>
  runProgram(join(ROOT, 'node_modules/@redocly/cli/bin/cli.js'), command, ...args);

test('Redocly accepts the OpenAPI document and the journeys by its strictest rules', {
  timeout: LIMIT_MS,
}, async () => {
  for (const document of [DOCUMENT, JOURNEYS]) {
    const output = await redocly('lint', '--config', CONFIG, document);
    expect(output).not.toMatch(/^failed|warning/m);
  }
});

test.skipIf(spectralFolder === null)(
  'Spectral accepts both by all of its rules',
  {
    timeout: LIMIT_MS,
  },
  async () => {
    const program = join(spectralFolder ?? '', '@stoplight/spectral-cli/dist/index.js');
    const rules = ['--ruleset', join(ROOT, '.config/spectral.yaml'), '--fail-severity', 'hint'];
    const output = await runProgram(program, 'lint', ...rules, DOCUMENT, JOURNEYS);
    expect(output).toBe("No results with a severity of 'hint' or higher found!\n");
  },
);

test('the parser of Scalar accepts the OpenAPI document', async () => {
  const { valid, errors, version } = await validate(await readFile(DOCUMENT, 'utf8'));
  expect({ valid, errors, version }).toEqual({ valid: true, errors: [], version: '3.1' });
  expect((await validate({ openapi: '3.1.0', info: { version: '1' }, paths: {} })).valid).toBe(false);
});

test('every journey runs against the API as the document describes it', { timeout: LIMIT_MS }, async () => {
  await using stack = await openApiStack();
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
