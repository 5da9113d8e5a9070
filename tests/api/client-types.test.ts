import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '#operations/index.ts';
import { isList } from '#services/api/server/list-formats.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OPTIONS =
  '--noEmit --strict --exactOptionalPropertyTypes --ignoreConfig --skipLibCheck --module nodenext --allowImportingTsExtensions';

/** Output of `tsc` for lines that may name `operations`. */
const faultsOf = (lines: readonly string[]): string => {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.examples-'));
  try {
    const types = JSON.stringify(join(ROOT, 'contracts/client/openapi-types.ts'));
    writeFileSync(
      join(folder, 'examples.mts'),
      [`import type { operations } from ${types};`, ...lines].join('\n'),
    );
    return execFileSync(
      join(ROOT, 'node_modules/.bin/tsc'),
      [...OPTIONS.split(' '), join(folder, 'examples.mts')],
      {
        encoding: 'utf8',
      },
    );
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const content = (where: string): string => `${where}['content']['application/json']`;

test('the types of the client hold for the examples of all parameters, bodies and replies', () => {
  const lines = ENDPOINTS.flatMap(({ operationId, paramsExample, body, reply }) => {
    const operation = `operations['${operationId}']`;
    const data = `${content(`${operation}['responses'][${reply.status}]`)}['data']`;
    return [
      ...(Object.keys(paramsExample).length === 0
        ? []
        : [
            `export const params_${operationId}: ${operation}['parameters']['path'] = ${JSON.stringify(paramsExample)};`,
          ]),
      ...(body === null
        ? []
        : [
            `export const body_${operationId}: ${content(`${operation}['requestBody']`)} = ${JSON.stringify(body.example)};`,
          ]),
      `export const data_${operationId}: ${data} = ${JSON.stringify(reply.example)};`,
    ];
  });
  expect(lines.length).toBeGreaterThan(2 * 85 - 20);
  expect(ENDPOINTS.filter(isList).length).toBeGreaterThan(30);
  expect(faultsOf(lines)).toBe('');
});

test('the types of the client refuse an unknown field, a missing one and a wrong value', () => {
  const data = content(`operations['listBrandSitemap']['responses'][200]`);
  const entry = { slug: 'a', url: 'https://a.example', updated_at: '2026-11-20T06:00:00.000Z' };
  const { slug: _, ...without } = entry;
  const lines = [{ ...entry, spend: 1 }, without, { ...entry, url: null }].map(
    (one, index) => `export const d${index}: ${data}['data'] = [${JSON.stringify(one)}];`,
  );
  expect(faultsOf(lines).match(/error TS\d+/g)).toHaveLength(3);
});
