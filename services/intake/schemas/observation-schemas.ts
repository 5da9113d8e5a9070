import { z } from 'zod';
import { Observation, type ObservationType } from '#contracts/observations/index.ts';

/** JSON Schema of one type of observation, draft 2020-12. */
export type ObservationSchema = {
  readonly type: ObservationType;
  readonly schema: Readonly<Record<string, unknown>>;
};

/**
 * Generates the JSON Schema of every type of observation, as a collector sends it. A schema has no rules that compare
 * fields with each other; the intake checks those too. Texts over their limit are cut, not refused, so they have none.
 */
export const observationSchemas = (): readonly ObservationSchema[] =>
  Observation.options.map((option) => {
    const type = option.shape.type.value;
    const { $schema, ...schema } = z.toJSONSchema(option, {
      io: 'input',
      target: 'draft-2020-12',
      unrepresentable: 'any',
    });
    return {
      type,
      schema: { $schema, $id: `urn:ad-intelligence:observation:${type}`, title: type, ...schema },
    };
  });
