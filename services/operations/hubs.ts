import { z } from 'zod';
import { Hub } from '#contracts/resources/corpus/social-page.ts';
import { listHubs as readHubs } from '#projections/social-pages/read-network.ts';
import { readNewestScan } from '#projections/shared-tables/applied-scan.ts';
import { pageReply } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { pageQuery } from './endpoint/parameters.ts';
import { CREATOR_PAGE, brandReference, otherBrandReference } from './endpoint/examples.ts';
import { corpusRead } from './endpoint/kinds.ts';

const hubExample = {
  page: CREATOR_PAGE,
  followers: 212_400,
  brands: 2,
  active_ads: 39,
  roster: [
    { brand: brandReference, active_ads: 27 },
    { brand: otherBrandReference, active_ads: 12 },
  ],
};

export const listHubs = endpoint({
  ...corpusRead,
  path: '/v1/hubs',
  operationId: 'listHubs',
  tag: 'Operators',
  scope: 'operators:read',
  summary: 'List hubs',
  description:
    'Social pages that run active ads for two or more public brands, most brands first. Running the ads of a brand is an observed association, not a contract.',
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: Hub, example: [hubExample] },
  reads: ['social-pages'],
  handler: async ({ page }, { db }) => {
    const [scannedAt, found] = await Promise.all([readNewestScan(db, 'social_pages'), readHubs(db, page)]);
    return pageReply(found, scannedAt);
  },
});
