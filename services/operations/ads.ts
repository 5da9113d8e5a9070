import { z } from 'zod';
import { AdStatement, ruleOf } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { Ad, AdStatus, AdSummary } from '#contracts/resources/corpus/ads/ad.ts';
import { AdFormatName } from '#contracts/resources/corpus/ads/creative.ts';
import { findPicture, readAdStreams } from '#application/audit/ad-page.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import { listArchivedMedia } from '#projections/queries/ad-archived-media.ts';
import {
  findAd,
  readBrandOfAd,
  searchAds as readAds,
  listBrandAds as readBrandAds,
  searchBrandAds as findBrandAds,
} from '#projections/ads/read.ts';
import { readFilesOfAd } from '#projections/creatives/read.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { windowStart } from '#contracts/values/windows.ts';
import { Country, LibraryId, Uuid } from '#contracts/values/primitives.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { AD_ID, BRAND_ID, adSummary, brandReference } from './endpoint/examples.ts';
import { adParams, pastQuery, dateParameter, pageQuery, searchText } from './endpoint/parameters.ts';
import { creative, media } from './creatives.ts';
import { PROOF_DIGESTS, pageShape, proofExample, replyWithProof } from './endpoint/proof-reply.ts';
import { notRecorded, requirePast } from './endpoint/read-past.ts';
import { pageReply, readAsOfEmptyList } from './endpoint/reply.ts';
import { withBrand } from './brands/find-brand.ts';
import { HEAVY_WAIT_MS, WAITING_PER_WORKSPACE_MAX } from './dependencies/heavy-reads.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { brandRead, corpusRead } from './endpoint/kinds.ts';

const AD_UNKNOWN = new Refusal('not_found', 'Ad not found.');

const example = {
  ...adSummary,
  brand: brandReference,
  link_description: null,
  caption: 'harbor-and-pine.com',
  languages: ['en'],
  cards: [],
  versions: [],
  history: [{ at: '2026-11-02T06:00:00.000Z', change: 'started', detail: {} }],
  media: [{ kind: 'video', source_url: null, poster_url: null, archived_url: media.media_url }],
  archived_media: [creative],
};

export const getAd = endpoint({
  method: 'GET',
  path: '/v1/ads/{adId}',
  operationId: 'getAd',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Read one ad',
  description:
    'One ad with its full copy, archived media, observation window and what was observed to change.',
  params: adParams,
  query: z.strictObject(pastQuery),
  body: null,
  paramsExample: { adId: AD_ID },
  reply: { status: 200, shape: 'record', data: Ad, example },
  errors: ['not_found'],
  corpus: true,
  past: 'ad',
  reads: ['ads', 'creatives'],
  handler: async ({ params }, { db }) => {
    const found = await findAd(db, params.adId, listArchivedMedia(db, params.adId));
    if (!found) throw AD_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});

const AdProof = z
  .strictObject({ statement: AdStatement, ...pageShape })
  .meta({ id: 'AdProof', description: 'An ad as observed, with all that it takes to check it.' });

const statementExample: AdStatement = {
  about: 'ad',
  ad_id: AD_ID,
  picture_sha256: null,
  as_of: '2026-11-20T06:00:00.000Z',
  streams: [{ stream: `adLibrary-${BRAND_ID}`, revision: '812' }],
};
const { bundle_url: page_url, ...countsExample } = proofExample;

export const getAdProof = endpoint({
  method: 'GET',
  path: '/v1/ads/{adId}/proof',
  operationId: 'getAdProof',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Read the proof of an ad',
  description: `A link to one HTML file of the ad: what was observed and when, its archived picture, the events that say so, and the path from their streams to the signed digest. A file of many events has those that do not name the ad by their hashes only. ${PROOF_DIGESTS}`,
  params: adParams,
  query: z.strictObject({
    as_of: pastQuery.as_of.unwrap().optional().meta({
      description: 'The moment: events recorded by then count. Now when absent.',
    }),
  }),
  body: null,
  paramsExample: { adId: AD_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: AdProof,
    example: { statement: statementExample, rule: ruleOf(statementExample), ...countsExample, page_url },
  },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: ['ads', 'creatives'],
  beyondContract: true,
  handler: async ({ params: { adId: ad_id }, query, caller }, dependencies) => {
    const { db, rawLog, pastPlaces, clock } = dependencies;
    const now = clock.now();
    const moment = query.as_of === undefined ? now : requirePast('as_of', query.as_of, now);
    const [brandId, files] = await Promise.all([readBrandOfAd(db, ad_id), readFilesOfAd(db, ad_id)]);
    if (brandId === null) throw AD_UNKNOWN;
    const { picture_sha256, isKnown, earliest, streams } = await pastPlaces(caller.workspaceId, async () => {
      const picture = await findPicture(dependencies, files, ad_id, moment);
      const first = [...streamsOfBrand(brandId), ...(picture === null ? [] : [creativeStream(picture)])];
      return { picture_sha256: picture, ...(await readAdStreams(rawLog, first, ad_id, moment)) };
    });
    if (!isKnown) throw notRecorded({ now: moment }, { recorded: earliest }, now);
    const { bundle_url, ...proof } = await replyWithProof<AdStatement>(
      { about: 'ad', ad_id, picture_sha256, as_of: moment.toISOString() },
      streams,
      dependencies,
    );
    return { data: JSON.stringify({ ...proof, page_url: bundle_url }), asOf: query.as_of ?? null };
  },
});

export const listBrandAds = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/ads',
  operationId: 'listBrandAds',
  tag: 'Ads',
  scope: 'ads:read',
  summary: "List a brand's ads",
  description: 'The ads attributed to the brand, newest start first.',
  query: z.strictObject({ ...pageQuery, ...pastQuery }),
  reply: { status: 200, shape: 'paged', data: AdSummary, example: [adSummary] },
  past: 'brand',
  reads: ['brands', 'ads'],
  handler: async ({ params, page }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      Promise.all([readScannedAt(db, 'ads', id), readBrandAds(db, id, page)]),
    );
    const [asOf, ads] = found;
    return pageReply(ads, asOf ?? brand.profiled_at);
  },
});

const FACET_MAX_LENGTH = 100;

const isDayWindow = (from: string | undefined, to: string | undefined): boolean =>
  from === undefined || to === undefined || from <= to;
const orderFault = (name: string) => ({
  path: [`${name}_from`],
  message: `\`${name}_from\` must not be after \`${name}_to\``,
});

export const searchBrandAds = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/ads/search',
  operationId: 'searchBrandAds',
  tag: 'Ads',
  scope: 'ads:read',
  summary: "Search a brand's ads",
  description:
    'The ads attributed to the brand by platform, page, call to action, language, status, and the days on which they started or were confirmed inactive. `sort=longest_running` puts most `days_active` first: observed survival, not performance. An ad that was not seen is `missing`, and not confirmed inactive. Ages grow with each scan, so a scan while pages are read may show an ad twice.',
  query: z
    .strictObject({
      ...pastQuery,
      ...pageQuery,
      platform: searchText(FACET_MAX_LENGTH)
        .toLowerCase()
        .optional()
        .meta({ description: 'A platform that shows the ad, such as `instagram`.' }),
      page_id: LibraryId.optional().meta({ description: 'The social page that runs the ad.' }),
      cta_type: searchText(FACET_MAX_LENGTH)
        .toUpperCase()
        .optional()
        .meta({ description: 'Type of the call to action, such as `SHOP_NOW`.' }),
      language: searchText(FACET_MAX_LENGTH)
        .toLowerCase()
        .optional()
        .meta({ description: 'A language of the ad, such as `en`.' }),
      status: AdStatus.optional().meta({
        description: '`missing`: not seen by the last scan, but not confirmed inactive.',
      }),
      started_from: dateParameter(
        'Started on this day or later. An ad without a known start counts by its first sighting.',
      ),
      started_to: dateParameter('Started on this day or earlier.'),
      confirmed_inactive_from: dateParameter('Confirmed inactive on this day in UTC or later, and still.'),
      confirmed_inactive_to: dateParameter('Confirmed inactive on this day in UTC or earlier, and still.'),
      sort: z.enum(['newest', 'longest_running']).default('newest').meta({
        description: '`newest`: newest start first. `longest_running`: most `days_active` first.',
      }),
    })
    .refine((query) => isDayWindow(query.started_from, query.started_to), orderFault('started'))
    .refine(
      (query) => isDayWindow(query.confirmed_inactive_from, query.confirmed_inactive_to),
      orderFault('confirmed_inactive'),
    ),
  reply: { status: 200, shape: 'paged', data: AdSummary, example: [adSummary] },
  heavy: true,
  past: 'brand',
  reads: ['brands', 'ads'],
  beyondContract: true,
  handler: async ({ params, query, page }, { db }) => {
    const { platform, page_id: pageId, cta_type: ctaType, language, status, sort } = query;
    const filter = {
      ...omitUndefined({ platform, pageId, ctaType, language, status }),
      started: { from: query.started_from, to: query.started_to },
      inactive: { from: query.confirmed_inactive_from, to: query.confirmed_inactive_to },
      sort,
    };
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      Promise.all([readScannedAt(db, 'ads', id), findBrandAds(db, id, filter, page)]),
    );
    const [asOf, ads] = found;
    return pageReply(ads, asOf ?? brand.profiled_at);
  },
});

/** Search window without a brand, up to the newest scan (specification, part "Limits"). */
const SEARCH_WINDOW_DAYS = 90;
const COPY_SEARCH_MAX_LENGTH = 200;

export const searchAds = endpoint({
  ...corpusRead,
  path: '/v1/ads',
  operationId: 'searchAds',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Search ads',
  description: `Ads by copy, format, status and country, newest start first. Without \`brand_id\` only ads started in the last 90 days are searched. An ad without a known start is sorted by its first sighting. In a process, at most two searches of a workspace run at once (one on a machine of two processors), and ${WAITING_PER_WORKSPACE_MAX} more wait for up to ${HEAVY_WAIT_MS / 1_000} s; beyond that 503 with \`retry-after\`.`,
  query: z.strictObject({
    ...pageQuery,
    q: searchText(COPY_SEARCH_MAX_LENGTH)
      .optional()
      .meta({ description: 'Words of the copy; all of them must occur.' }),
    format: AdFormatName.optional().meta({ description: 'Creative format.' }),
    status: AdStatus.optional().meta({
      description: '`missing`: not seen by the last scan, but not confirmed inactive.',
    }),
    country: Country.optional().meta({ description: 'A country whose scans showed the ad.' }),
    brand_id: Uuid.optional().meta({ description: 'Ads attributed to this brand, whenever started.' }),
  }),
  reply: { status: 200, shape: 'paged', data: AdSummary, example: [adSummary] },
  heavy: true,
  reads: ['ads', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { q, format, status, country, brand_id: brandId } = query;
    const asOf = await readAsOfEmptyList(
      db,
      brandId,
      (id) => readScannedAt(db, 'ads', id),
      () => readNewestScan(db, 'ads'),
    );
    const startedSince =
      brandId === undefined && asOf !== null ? windowStart(asOf, SEARCH_WINDOW_DAYS) : undefined;
    const found = await readAds(
      db,
      omitUndefined({ q, format, status, country, brandId, startedSince }),
      page,
    );
    return pageReply(found, asOf);
  },
});
