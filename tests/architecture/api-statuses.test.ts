import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '#contracts/errors.ts';
import { errorsOf } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { openApiDocument, replySchema } from '#services/api/openapi/document.ts';

/** Every status that an endpoint declares has a test, and every example is what the endpoint would answer. */
const TESTS = join(import.meta.dirname, '..');
/** Proved for all endpoints alike by `every-endpoint`, which has a describe for each of them. */
const PROVED_FOR_ALL = [401, 403, 429, 500];

const tests = globSync('{api,operations}/**/*.test.ts', { cwd: TESTS })
  .map((name) => readFileSync(join(TESTS, name), 'utf8'))
  .join('\n');
const forAll = readFileSync(join(TESTS, 'api/every-endpoint.integration.test.ts'), 'utf8');

describe.each(ENDPOINTS.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s',
  (name, endpoint) => {
    test('has a describe for each status it declares', () => {
      const declared = Object.values(ERRORS)
        .filter(({ type }) => errorsOf(endpoint).includes(type))
        .map(({ status }) => status);
      const missing = new Set(
        [endpoint.reply.status, ...declared].filter((status) =>
          PROVED_FOR_ALL.includes(status)
            ? !forAll.includes(`describe('${status}'`)
            : !tests.includes(`describe('${name} ${status}'`),
        ),
      );
      expect([...missing]).toEqual([]);
    });

    test('shows an example that is a valid reply', () => {
      const responses = (openApiDocument() as never)['paths'][endpoint.path][endpoint.method.toLowerCase()][
        'responses'
      ];
      const example: unknown = responses[endpoint.reply.status]['content']['application/json']['example'];
      expect(replySchema(endpoint).safeParse(example).error?.issues ?? []).toEqual([]);
      expect(endpoint.body?.schema.safeParse(endpoint.body.example).error?.issues ?? []).toEqual([]);
    });

    test('is an operation by its own name, in the order of the documentation', () => {
      expect(ENDPOINTS.filter((other) => other.operationId === name)).toHaveLength(1);
      expect(endpoint.description).not.toBe('');
    });
  },
);

test('the committed contract is what the endpoints say', () => {
  const written: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../contracts/openapi.json'), 'utf8'),
  );
  expect(written).toEqual(openApiDocument());
});
