import { Refusal } from '#contracts/errors.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { type Json, type JsonObject, OBSERVED_IN_LISTS_MAX, separate } from '../output/observed.ts';
import type { EndpointInput, ToolContext } from './define-tool.ts';

export type Section = {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly input: EndpointInput;
  /** True when the top-level names are the service's or a member's. */
  readonly isOwn?: boolean;
};

export type ReadSections = {
  readonly sections: JsonObject;
  readonly asOfs: readonly (string | null)[];
  readonly cursor: string | null;
};

/** Reads concurrently. A failed section holds its reason; invalid input concerns the whole call and throws. */
export const readSections = async (
  wanted: readonly Section[],
  context: ToolContext,
): Promise<ReadSections> => {
  const { call, baseUrl, now } = context;
  const read = await Promise.all(
    wanted.map(async ({ name, endpoint, input, isOwn = false }) => {
      try {
        const { data, asOf, cursor } = await call(endpoint, input);
        const value = separate(data, { maxLength: OBSERVED_IN_LISTS_MAX, baseUrl, isOwn });
        const shown = Array.isArray(value) ? { items: value } : (value as JsonObject);
        // Last, because some records have their own `as_of`.
        const section: JsonObject = { ...shown, as_of: asOf ?? new Date(now).toISOString() };
        return { name, section, asOf, cursor };
      } catch (error) {
        if (
          !(error instanceof Refusal) ||
          error.code === 'invalid_input' ||
          error.code === 'invalid_cursor'
        ) {
          throw error;
        }
        const section: JsonObject = { unavailable: error.message };
        return { name, section, asOf: null, cursor: null };
      }
    }),
  );
  return {
    sections: Object.fromEntries(read.map(({ name, section }): [string, Json] => [name, section])),
    asOfs: read.map(({ asOf }) => asOf),
    cursor: read[0]?.cursor ?? null,
  };
};
