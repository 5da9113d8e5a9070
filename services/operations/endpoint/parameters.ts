import { z } from 'zod';
import { CalendarDate, LibraryId, Slug, Uuid } from '#contracts/values/primitives.ts';
import { ApiKeyId } from '#contracts/resources/workspace/api-key.ts';
import type { BrandRef } from '#projections/brands/read.ts';

/** Parameters that several endpoints share (specification, part "Endpoints", general rules). */

const WHOLE_NUMBER = /^[0-9]{1,15}$/;

/** Query text as a whole number; what is none is left to fail the schema. */
export const wholeNumber = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' && WHOLE_NUMBER.test(text) ? Number(text) : text),
    schema,
  );

/** Query text as a list, in one order whichever it was given in, so that cursors do not depend on it. */
export const commaSeparated = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' ? [...new Set(text.split(','))].toSorted() : text),
    schema,
  );

/** Ids with commas between, each once: uuids are one id in whichever case they are written. */
export const commaSeparatedUuids = (maxItems: number) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : text),
    commaSeparated(z.array(Uuid).min(1).max(maxItems)),
  );

/** Words to search for. Postgres holds no text with a NUL character, so no text can contain one. */
export const searchText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !text.includes('\u0000'), 'a NUL character occurs in no text');

/** Older than anything the library holds, and so far from the last day there is that windows may be counted from it. */
const ASKED_DATE_EARLIEST = '2000-01-01';
const ASKED_DATE_LATEST = '2999-12-31';

/** A day that is asked for. */
export const askedDate = (description: string) =>
  CalendarDate.refine(
    (date) => date >= ASKED_DATE_EARLIEST && date <= ASKED_DATE_LATEST,
    `a day from ${ASKED_DATE_EARLIEST} to ${ASKED_DATE_LATEST}`,
  )
    .optional()
    .meta({ description: `${description} Between ${ASKED_DATE_EARLIEST} and ${ASKED_DATE_LATEST}.` });

export const PAGE_SIZE_MAX = 100;
export const PAGE_SIZE_DEFAULT = 20;

/** Spread into the query of every endpoint with pages. */
export const pageQuery = {
  limit: wholeNumber(
    z.int().min(1).max(PAGE_SIZE_MAX).default(PAGE_SIZE_DEFAULT).meta({ description: 'Items per page.' }),
  ),
  cursor: z
    .string()
    .min(1)
    .optional()
    .meta({ description: '`meta.cursor` of the page before, with the same other parameters.' }),
} as const;

export const noParams = z.strictObject({});
export const noQuery = z.strictObject({});

/** Slug first: it accepts what almost every caller sends, a lower-case uuid included. */
export const slugOrUuid = z.union([Slug, Uuid], 'a slug, or a uuid');

export const brandParams = z.strictObject({
  brandId: slugOrUuid.meta({ description: 'Uuid or slug of a brand.' }),
});
export const operatorParams = z.strictObject({
  operatorId: Uuid.meta({ description: 'Id of an operator.' }),
});
export const adParams = z.strictObject({ adId: LibraryId.meta({ description: 'Library id of an ad.' }) });

const workspaceId = z
  .string()
  .meta({ description: "The key's own workspace, `data.workspace_id` of `GET /v1/me`." });
export const workspaceParams = z.strictObject({ ws: workspaceId });
export const workspaceBrandParams = z.strictObject({
  ws: workspaceId,
  brandId: Uuid.meta({ description: 'Uuid of a brand; a slug is not accepted here.' }),
});

export const apiKeyParams = z.strictObject({
  ws: workspaceId,
  keyId: ApiKeyId.meta({ description: 'Id of an API key.' }),
});

export const reportParams = z.strictObject({
  ws: workspaceId,
  reportId: Uuid.meta({ description: 'Id of a report.' }),
});
export const briefParams = z.strictObject({
  ws: workspaceId,
  briefId: Uuid.meta({ description: 'Id of a brief.' }),
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** No slug has the shape of a uuid: it has as many hyphens only with a top-level domain of twelve hex digits. */
export const brandRefOf = (text: string): BrandRef =>
  UUID.test(text) ? { id: text.toLowerCase() } : { slug: text };
