import { CREATIVE_FIELD_NAMES } from '#contracts/values/media/creatives.ts';
import { CreativeRecordSummary } from '#contracts/resources/corpus/ads/creative-record.ts';
import { type Range, RANGED_FIELDS, searchRecords } from '#projections/creatives/read-records.ts';
import { latestIn } from '../endpoint/reply.ts';
import { readAsOfFiles } from '../creatives/as-of-files.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams } from '../endpoint/parameters.ts';
import { creativeRecordSummary } from './examples.ts';
import { type RecordQuery, recordQuery } from './parameters.ts';

/** Facets in the form in which records are indexed. */
const facetsOf = (query: RecordQuery): readonly string[] =>
  (['media_kind', 'depth', ...CREATIVE_FIELD_NAMES] as const).flatMap((name) =>
    query[name] === undefined ? [] : [`${name}:${query[name]}`],
  );

const rangesOf = (query: RecordQuery) =>
  Object.fromEntries(
    RANGED_FIELDS.map((name): [string, Range] => [
      name,
      { min: query[`min_${name}`], max: query[`max_${name}`] },
    ]).filter(([, { min, max }]) => min !== undefined || max !== undefined),
  );

export const searchCreativeRecords = endpoint({
  method: 'GET',
  path: '/v1/creative-records',
  operationId: 'searchCreativeRecords',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Search creative records',
  description:
    'Creative files, one record each, by brand, analysis depth, media kind, values of closed fields, words said or shown on screen, and numbers; most live ads first. Counts are ads carrying a file, never spend.',
  params: noParams,
  query: recordQuery,
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: CreativeRecordSummary, example: [creativeRecordSummary] },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['creatives', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { brand_id: brandId, said, shown } = query;
    const filter = {
      ...omitUndefined({ brandId, said, shown }),
      facets: facetsOf(query),
      ranges: rangesOf(query),
    };
    return pageAsOf(
      () => searchRecords(db, filter, page),
      (found) => latestIn(found.items, 'as_of'),
      () => readAsOfFiles(db, brandId),
    );
  },
});
