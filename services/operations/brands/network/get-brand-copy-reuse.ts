import { ReusedCopy } from '#contracts/resources/corpus/social-page.ts';
import { listReusedCopy } from '#projections/social-pages/read.ts';
import { reusedCopyExample } from '#operations/social-pages/examples.ts';
import { brandList } from '../brand-list.ts';

export const getBrandCopyReuse = brandList({
  path: '/v1/brands/{brandId}/copy-reuse',
  operationId: 'getBrandCopyReuse',
  scope: 'brands:read',
  summary: 'Read which of its texts run elsewhere',
  description:
    'Ad texts that the brand runs and pages outside of its linked pages run too, most foreign ads first, at most twelve. Texts are the same when they say the same words in the same order; templates that a catalogue fills in are no copy. Says nothing of who wrote a text first.',
  reply: { data: ReusedCopy, example: [reusedCopyExample] },
  reads: ['brands', 'social-pages'],
  list: listReusedCopy,
});
