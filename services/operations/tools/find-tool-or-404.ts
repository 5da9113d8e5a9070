import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { ToolRef } from '#projections/tools/read.ts';
import { brandRefOf, slugOrUuid } from '../endpoint/parameters.ts';

export const toolParams = z.strictObject({
  toolSlug: slugOrUuid.meta({ description: 'Slug or uuid of a tool.' }),
});

/** A tool is told by slug or uuid as a brand is. */
export const toolRefOf = (text: string): ToolRef => brandRefOf(text);

/** Made once: a refusal says nothing of where it was thrown, and collecting that costs more than the look-up. */
export const TOOL_UNKNOWN = new Refusal('not_found', 'No scan of a site has found such a tool.');
