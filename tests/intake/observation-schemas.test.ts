import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Observation, OBSERVATION_TYPES } from '#contracts/observations/index.ts';
import { observationSchemas } from '#services/intake/schemas/observation-schemas.ts';
import { SAMPLES } from '../projector/observation-samples.ts';

const FOLDER = join(import.meta.dirname, '../../contracts/observation-schemas');
const committed = (type: string) => JSON.parse(readFileSync(join(FOLDER, `${type}.json`), 'utf8')) as object;

test('every type of observation has a committed schema, and no other file is there', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(OBSERVATION_TYPES.map((type) => `${type}.json`).toSorted());
  for (const { type, schema } of observationSchemas()) expect(committed(type), type).toEqual(schema);
});

describe.each(OBSERVATION_TYPES)('the schema of %s', (type) => {
  const schema = z.fromJSONSchema(committed(type) as Parameters<typeof z.fromJSONSchema>[0]);
  const samples = SAMPLES.flatMap(
    ({ said, before, after }) => [before, said, after].filter(Boolean) as Record<string, unknown>[],
  ).filter((said) => said['type'] === type);

  test('accepts a valid observation', () => {
    expect(samples.length).toBeGreaterThan(0);
    for (const sample of samples) expect(schema.safeParse(sample).error, type).toBeUndefined();
  });

  test('rejects a missing field where the contract does, an unknown field and another type', () => {
    for (const sample of samples) {
      for (const name of Object.keys(sample)) {
        const { [name]: _, ...rest } = sample;
        expect(schema.safeParse(rest).success, `without ${name}`).toBe(Observation.safeParse(rest).success);
      }
      expect(schema.safeParse({ ...sample, spend: 1 }).success).toBe(false);
      expect(schema.safeParse({ ...sample, type: 'other' }).success).toBe(false);
    }
  });
});
