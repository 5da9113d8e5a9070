import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { SCOPES } from '#contracts/values/access.ts';
import { readSettings } from '#platform/settings.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { endpointTable } from '#services/api/openapi/endpoint-table.ts';
import { lineOf, SPECIFIED } from '../operations/fixtures/specification.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const { AD_SPEC } = readSettings(
  z.object({ AD_SPEC: z.string().default('../shared/spec/ad-intelligence-rest-service.md') }),
);
const file = resolve(ROOT, AD_SPEC);
const absent = !existsSync(file);
if (absent) {
  console.warn(`list of endpoints not compared: no specification found at ${file}; set AD_SPEC to its path`);
}

const served = new Map(ENDPOINTS.map((endpoint) => [lineOf(endpoint), endpoint]));

test.skipIf(absent)('the list of endpoints equals that of the specification', () => {
  const text = readFileSync(file, 'utf8');
  const headed = [...text.matchAll(/^#### (\w+ \/v1\S*) \(scope `([\w:]+)`/gm)];
  const rows = [...text.matchAll(/^\| (\w+ \/v1\S*)(?: \(paginated\))? \| ([\w:]+) \|/gm)];
  const named = [...headed, ...rows].map(([, line, scope]) => `${line} ${scope}`);
  expect(SPECIFIED.map((one) => `${lineOf(one)} ${one.scope}`)).toEqual(named);
});

test('the list has 85 distinct endpoints and uses every scope', () => {
  expect(new Set(SPECIFIED.map(lineOf)).size).toBe(85);
  expect(SPECIFIED).toHaveLength(85);
  expect(new Set(SPECIFIED.map(({ scope }) => scope))).toEqual(new Set(SCOPES));
});

test.each(SPECIFIED.map((one) => [lineOf(one), one] as const))('%s is served with its scope', (line, one) => {
  expect(served.get(line)?.scope).toBe(one.scope);
});

test('exactly the endpoints that are not specified are marked as beyond the contract', () => {
  const specified = new Set(SPECIFIED.map(lineOf));
  const marked = [...served].filter(([, { beyondContract }]) => beyondContract).map(([line]) => line);
  expect([...served.keys()].filter((line) => !specified.has(line))).toEqual(marked);
});

test('the committed table of endpoints equals the generated one', () => {
  expect(readFileSync(resolve(ROOT, 'contracts/endpoints.md'), 'utf8')).toBe(endpointTable());
});
