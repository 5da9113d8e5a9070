import { z } from 'zod';
import { CalendarDate, LibraryId, Slug, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { utcDate } from '#contracts/values/time.ts';
import { ApiKeyId } from '#contracts/resources/workspace/api-key.ts';
import type { Endpoint } from './define-endpoint.ts';
import type { BrandRef } from '#projections/brands/read.ts';

/** Specification, part "Endpoints", general rules. */

const WHOLE_NUMBER = /^[0-9]{1,15}$/;

/** Passes other text on, so that the schema rejects it. */
export const wholeNumber = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' && WHOLE_NUMBER.test(text) ? Number(text) : text),
    schema,
  );

/** Sorted and without duplicates, so that cursors do not depend on the order in the URL. */
export const commaSeparated = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' ? [...new Set(text.split(','))].toSorted() : text),
    schema,
  );

/** In lower case and without duplicates: uuids are case-insensitive. */
export const commaSeparatedUuids = (maxItems: number) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : text),
    commaSeparated(z.array(Uuid).min(1).max(maxItems)),
  );

/** Postgres cannot store NUL characters in text. */
export const searchText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !text.includes('\u0000'), 'must not contain a NUL character');

/** Older than every ad of the library; the latest date leaves room for a window. */
export const DATE_EARLIEST = '2000-01-01';
const DATE_LATEST = '2999-12-31';

/** Otherwise a wrong format would have a second fault, of the range. */
const isWellFormed = ({ issues }: z.core.ParsePayload): boolean => issues.length === 0;

export const dateParameter = (description: string) =>
  CalendarDate.refine((date) => date >= DATE_EARLIEST && date <= DATE_LATEST, {
    error: `must be a date from ${DATE_EARLIEST} to ${DATE_LATEST}`,
    when: isWellFormed,
  })
    .optional()
    .meta({ description: `${description} Between ${DATE_EARLIEST} and ${DATE_LATEST}.` });

const timeParameter = (description: string) =>
  Timestamp.refine((time) => time >= DATE_EARLIEST && utcDate(time) <= DATE_LATEST, {
    error: `must be a time from ${DATE_EARLIEST} to ${DATE_LATEST}`,
    when: isWellFormed,
  })
    .optional()
    .meta({ description: `${description} Between ${DATE_EARLIEST} and ${DATE_LATEST}.` });

/** For endpoints with `past`. */
export const pastQuery = {
  as_of: timeParameter(
    'A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent.',
  ),
  observed_as_of: timeParameter(
    'A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent.',
  ),
} as const;

/** Half open. `isTimeWindow` is the rule over both. */
export const timeWindow = {
  since: timeParameter('From this time on, such as `2026-11-01T00:00:00Z`. No limit when absent.'),
  until: timeParameter('Before this time. No limit when absent.'),
} as const;

/** Compares times with different numbers of fractional digits. */
export const isTimeWindow = ({ since, until }: { since?: string | undefined; until?: string | undefined }) =>
  since === undefined || until === undefined || Date.parse(since) < Date.parse(until);
export const TIME_WINDOW_FAULT = { path: ['since'], message: '`since` must be before `until`' };

export const PAGE_SIZE_MAX = 100;
export const PAGE_SIZE_DEFAULT = 20;

export const pageQuery = {
  limit: wholeNumber(
    z.int().min(1).max(PAGE_SIZE_MAX).default(PAGE_SIZE_DEFAULT).meta({ description: 'Items per page.' }),
  ),
  cursor: z
    .string()
    .min(1)
    .optional()
    .meta({ description: '`meta.cursor` of the previous page; all other parameters must stay the same.' }),
} as const;

export const noParams = z.strictObject({});
export const noQuery = z.strictObject({});

/** Tests the slug first, because it accepts almost every request, including a lower-case uuid. */
export const slugOrUuid = z.union([Slug, Uuid], 'a slug, or a uuid');

export const brandUuidOrSlug = slugOrUuid.meta({
  description:
    'Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one.',
});
export const brandParams = z.strictObject({ brandId: brandUuidOrSlug });

/** Replies 308 to an older slug. */
export const takesBrandSlug = ({ params, query }: Pick<Endpoint, 'params' | 'query'>): boolean =>
  [params.shape['brandId'], query.shape['brand_id']].some(
    (schema) => (schema instanceof z.ZodOptional ? schema.unwrap() : schema) === brandUuidOrSlug,
  );
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

/** No brand has a slug that looks like a uuid. */
export const brandRefOf = (text: string): BrandRef =>
  UUID.test(text) ? { id: text.toLowerCase() } : { slug: text };
