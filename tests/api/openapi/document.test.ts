import { expect, test } from 'vitest';
import { z } from 'zod';
import { DETAIL_CODES, Refusal } from '#contracts/errors.ts';
import { openApiDocument } from '#services/api/openapi/document.ts';

type Node = { readonly [name: string]: unknown };
type Found = { readonly path: readonly string[]; readonly node: Node };

const document = openApiDocument();

/** Examples are values, so they are left out. */
const objectsOf = (value: unknown, path: readonly string[] = []): readonly Found[] => {
  if (typeof value !== 'object' || value === null) return [];
  const found = Array.isArray(value) ? [] : [{ path, node: value as Node }];
  const inner = Object.entries(value).filter(([name]) => name !== 'example' || path.at(-1) === 'properties');
  return [...found, ...inner.flatMap(([name, child]) => objectsOf(child, [...path, name]))];
};
const objects = objectsOf(document);

const resolved = (node: Node): Node =>
  typeof node['$ref'] === 'string'
    ? node['$ref']
        .split('/')
        .slice(1)
        .reduce<Node>((parent, name) => parent[name] as Node, document)
    : node;

/** `null` when neither the object nor the one that it refers to has one. */
const descriptionOf = (node: Node): string | null =>
  ((node['description'] ?? resolved(node)['description'] ?? '') as string) || null;

const PARTS = ['properties', 'parameters', 'responses', 'headers', 'tags', 'schemas'];
const parts = objects.filter(({ path }) => PARTS.includes(path.at(-2) ?? ''));

test('every property, parameter, response, header, tag and schema of the document has a description', () => {
  expect(parts.length).toBeGreaterThan(1_500);
  const without = parts.filter(({ node }) => descriptionOf(node) === null);
  expect(without.map(({ path }) => path.join('/'))).toEqual([]);
});

const FILL_WORDS = ['a', 'an', 'the', 'of', 'its'];

test('no description only repeats the name', () => {
  const repeated = parts.filter(({ path, node }) => {
    const said = [...FILL_WORDS, ...(path.at(-1) ?? '').toLowerCase().split(/[^a-z]/)];
    return (descriptionOf(node) ?? 'x')
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.every((word) => said.includes(word));
  });
  expect(repeated.map(({ path }) => path.join('/'))).toEqual([]);
});

const isNullable = ({ type, anyOf }: Node): boolean =>
  [type, anyOf].some((kinds) => JSON.stringify(kinds ?? []).includes('"null"'));

test('every property of a schema that can be null says what null means', () => {
  const nullable = parts.filter(({ path, node }) => path.at(-2) === 'properties' && isNullable(node));
  expect(nullable.length).toBeGreaterThan(150);
  const silent = nullable.filter(({ node }) => !/null/i.test(descriptionOf(node) ?? ''));
  expect(silent.map(({ path }) => path.join('/'))).toEqual([]);
});

test('every enum that several places have is one named component', () => {
  const enums = objects.filter(({ node }) => Array.isArray(node['enum']));
  expect(enums.length).toBeGreaterThan(50);
  const repeated = enums.filter(({ node }) => {
    const values = JSON.stringify(node['enum']);
    return enums.filter((other) => JSON.stringify(other.node['enum']) === values).length > 1;
  });
  expect(repeated.map(({ path }) => path.join('/'))).toEqual([]);
});

test('the codes of faults are a closed list in the document, each with its meaning', () => {
  const codes = resolved({ $ref: '#/components/schemas/ErrorDetailCode' });
  expect(codes['enum']).toEqual(Object.keys(DETAIL_CODES));
  for (const [code, meaning] of Object.entries(DETAIL_CODES)) {
    expect(codes['description']).toContain(`\`${code}\`: ${meaning}`);
  }
  // @ts-expect-error Another code does not compile.
  expect(new Refusal('invalid_input', '', [{ path: '', message: '', code: 'unlisted' }])).toBeDefined();
});

const bodies = objects.filter(({ path }) => path.at(-2) === 'content');

test('every body of requests, replies, errors and webhooks has an example', () => {
  expect(bodies.length).toBeGreaterThan(150);
  const without = bodies.filter(({ node }) => node['example'] === undefined);
  expect(without.map(({ path }) => path.join('/'))).toEqual([]);
});

/** Refers to components as zod reads it. */
const local = (schema: unknown): Node =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')) as Node;
const $defs = local(resolved({ $ref: '#/components/schemas' }));
const schemaOf = ({ schema }: Node): z.ZodType =>
  z.fromJSONSchema({ ...local(schema), $defs } as Parameters<typeof z.fromJSONSchema>[0]);

test('every example is valid by the schema that is published with it', () => {
  const faults = bodies.flatMap(({ path, node }) =>
    (schemaOf(node).safeParse(node['example']).error?.issues ?? []).map(
      (issue) => `${path.join('/')}: ${issue.path.join('.')} ${issue.message}`,
    ),
  );
  expect(faults).toEqual([]);
});
