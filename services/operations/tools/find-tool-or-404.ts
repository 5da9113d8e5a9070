import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { ToolRef } from '#projections/tools/read.ts';
import { brandRefOf, slugOrUuid } from '../endpoint/parameters.ts';

export const toolParams = z.strictObject({
  toolSlug: slugOrUuid.meta({ description: 'Slug or uuid of a tool.' }),
});

export const toolRefOf = (text: string): ToolRef => brandRefOf(text);

/** A constant, because a stack trace per refusal costs more than the lookup. */
export const TOOL_UNKNOWN = new Refusal('not_found', 'Tool not found. No site scan has detected it.');
