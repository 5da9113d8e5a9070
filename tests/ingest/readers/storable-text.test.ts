import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Observation } from '#contracts/observations/index.ts';

/** Texts that Postgres cannot store: an event with NUL or a lone surrogate would fit no table. */
const UNSTORABLE = [
  'a\u0000b',
  'a\uD83D',
  '\uDE00a',
  'https://shop.example/\u0000',
  'https://shop.example/\uD83D',
  'shop.example/\u0000',
];

type Field = { readonly path: string; readonly schema: z.ZodType };

const textFields = (schema: z.ZodType, path: string): readonly Field[] => {
  const { def } = schema as unknown as { def: Record<string, unknown> & { type: string } };
  switch (def.type) {
    case 'object':
      return Object.entries(def['shape'] as Record<string, z.ZodType>).flatMap(([name, field]) =>
        textFields(field, `${path}.${name}`),
      );
    case 'array':
      return textFields(def['element'] as z.ZodType, `${path}[]`);
    case 'union':
      return (def['options'] as readonly z.ZodType[]).flatMap((option) => textFields(option, path));
    case 'nullable':
    case 'optional':
      return textFields(def['innerType'] as z.ZodType, path);
    case 'pipe':
      return textFields(def['in'] as z.ZodType, path);
    case 'string':
      return [{ path, schema }];
    case 'literal':
    case 'enum':
    case 'number':
    case 'boolean':
      return [];
    default:
      throw new Error(`${path} has the schema type ${def.type}, which this test does not support`);
  }
};

const OF_TYPES = Observation.options.map(
  (option) => [[...option.shape.type.values].join(), textFields(option, '')] as const,
);

describe.each(OF_TYPES)('%s', (_type, fields) => {
  test('refuses unstorable text in every field', () => {
    const accepted = fields.flatMap(({ path, schema }) =>
      UNSTORABLE.filter((text) => schema.safeParse(text).success).map(
        (text) => `${path}: ${JSON.stringify(text)}`,
      ),
    );
    expect(fields.length).toBeGreaterThan(1);
    expect(accepted).toEqual([]);
  });
});
