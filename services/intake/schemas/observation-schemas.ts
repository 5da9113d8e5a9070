import { z } from 'zod';
import { Observation, type ObservationType } from '#contracts/observations/index.ts';

export type ObservationSchema = {
  readonly type: ObservationType;
  readonly schema: Readonly<Record<string, unknown>>;
};

/** Rules between fields are omitted. Texts over their limit are cut, so they have no maximum length. */
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
