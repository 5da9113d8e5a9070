import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '#contracts/errors.ts';
import { type Endpoint, errorsOf } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { openApiDocument, replySchema } from '#services/api/openapi/document.ts';

/** Checks that each declared status has a test, and that each example is a valid reply. */
const TESTS = join(import.meta.dirname, '..');
/** Statuses that `every-endpoint` tests for all endpoints. */
const PROVED_FOR_ALL = [400, 401, 403, 405, 406, 413, 414, 415, 429, 500, 503];
/** Paths whose 404 it tests: the last parameter names a workspace or an object of the corpus. Nothing is deleted twice with 404. */
const NOT_FOUND_FOR_ALL = /\{(?:ws|brandId|toolSlug|categoryId|operatorId|adId)\}[^{]*$/;
const isNotFoundForAll = ({ path, method }: Endpoint): boolean =>
  NOT_FOUND_FOR_ALL.test(path) || (method === 'DELETE' && path.includes('{ws}'));

const tests = globSync('{api,operations}/**/*.test.ts', { cwd: TESTS })
  .map((name) => readFileSync(join(TESTS, name), 'utf8'))
  .join('\n');
const forAll = readFileSync(join(TESTS, 'api/every-endpoint.integration.test.ts'), 'utf8');

describe.each(ENDPOINTS.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s',
  (name, endpoint) => {
    test('has a describe for each declared status', () => {
      const declared = Object.values(ERRORS)
        .filter(({ type }) => errorsOf(endpoint).includes(type))
        .map(({ status }) => status);
      const missing = new Set(
        [endpoint.reply.status, ...declared].filter((status) =>
          PROVED_FOR_ALL.includes(status)
            ? !forAll.includes(`describe('${status}'`)
            : !(status === 404 && isNotFoundForAll(endpoint)) &&
              !tests.includes(`describe('${name} ${status}'`),
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

    test('has a unique operation id and a description', () => {
      expect(ENDPOINTS.filter((other) => other.operationId === name)).toHaveLength(1);
      expect(endpoint.description).not.toBe('');
    });
  },
);

test('the list has every endpoint that a file defines', () => {
  const folder = join(import.meta.dirname, '../../services/operations');
  const defined = globSync('**/*.ts', { cwd: folder }).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/^ {2}operationId: '(\w+)',$/gm)].map(
      ([, operationId]) => String(operationId),
    ),
  );
  expect(ENDPOINTS.map(({ operationId }) => operationId).toSorted()).toEqual(defined.toSorted());
});

test('the committed contract equals the generated one', () => {
  const written: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../contracts/openapi.json'), 'utf8'),
  );
  expect(written).toEqual(openApiDocument());
});
