import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { CreativeCoverage } from '#contracts/resources/corpus/ads/creative-record.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { readCoverage } from '#projections/creatives/read-coverage.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noParams } from '../endpoint/parameters.ts';
import { readAsOfFiles } from '../creatives/as-of-files.ts';
import { BRAND_UNKNOWN } from '../brands/find-brand-or-404.ts';
import { brandReference } from '../endpoint/examples.ts';

const creativeCoverage = {
  brand: brandReference,
  measured_files: 48,
  images: 20,
  videos: 28,
  transcribed_files: 21,
  described_files: 12,
  fields: [
    {
      field: 'hook',
      values: [
        { value: 'problem', files: 7 },
        { value: 'offer', files: 4 },
      ],
      not_read: 1,
    },
  ],
};

export const getCreativeCoverage = endpoint({
  method: 'GET',
  path: '/v1/creative-coverage',
  operationId: 'getCreativeCoverage',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Read how many creatives were analysed',
  description:
    "Counts of a brand's creative files that were measured, transcribed and described, with the values of each closed field over described files. Without `brand_id`: the files of all public brands, each file once.",
  params: noParams,
  query: z.strictObject({ brand_id: Uuid.optional().meta({ description: 'Uuid of a brand.' }) }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'record', data: CreativeCoverage, example: creativeCoverage },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'creatives'],
  handler: async ({ query }, { db }) => {
    const { brand_id: brandId } = query;
    const texts = brandId && (await readBrandSummaries(db, [brandId])).get(brandId.toLowerCase());
    if (brandId !== undefined && !texts) throw BRAND_UNKNOWN;
    const [empty, { json, as_of }] = await Promise.all([
      readAsOfFiles(db, brandId),
      readCoverage(db, brandId ?? null, texts ? texts.reference : 'null'),
    ]);
    return { data: json, asOf: as_of ?? empty };
  },
});
