import { BrandCoverage, COVERAGE_DAYS } from '#contracts/resources/corpus/coverage.ts';
import { appendFields, arrayText } from '#contracts/values/json-text.ts';
import { utcDate } from '#contracts/values/time.ts';
import { windowStart } from '#contracts/values/windows.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import {
  listCoveredPages,
  listReliableDays,
  READ_MODELS_OF_COVERAGE,
  readIncompleteScans,
  readLookedAt,
  readSources,
} from '#projections/queries/coverage.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandReference } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { withBrand } from './find-brand.ts';
import { brandRead } from '../endpoint/kinds.ts';

const PAGE = { page_id: '104857600123456', page_name: 'Harbor & Pine' };

export const getBrandCoverage = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/coverage',
  operationId: 'getBrandCoverage',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read what was observed of a brand, and what was not',
  description:
    'The linked pages with the complete scans that covered them last, the reliable days, the newest observation of each source, and the scans that left ads out. Ask it when a list about the brand is empty: an empty list says that nothing was observed, not that there is nothing. Such lists name this address in the header `link`.',
  query: noQuery,
  reply: {
    status: 200,
    shape: 'record',
    data: BrandCoverage,
    example: {
      brand: brandReference,
      known_since: '2026-03-02T08:00:00.000Z',
      pages: [
        {
          page: PAGE,
          role: 'OFFICIAL',
          linked_since: '2026-03-02T08:00:00.000Z',
          complete_scans: [{ country: 'US', scanned_at: '2026-11-20T06:00:00.000Z', collector: 'own' }],
        },
      ],
      pages_total: 1,
      reliable_days: { from: '2026-10-24', to: '2026-11-20', count: 2, dates: ['2026-11-13', '2026-11-20'] },
      sources: [
        { source: 'library', last_observed_on: '2026-11-20' },
        { source: 'shop', last_observed_on: null },
      ],
      incomplete_scans: {
        count: 1,
        newest: [
          {
            scanned_at: '2026-11-18T06:00:00.000Z',
            page_ids: [PAGE.page_id],
            countries: ['US'],
            collector: 'own',
          },
        ],
      },
    },
  },
  reads: READ_MODELS_OF_COVERAGE,
  beyondContract: true,
  handler: async ({ params }, { db, clock }) => {
    const to = utcDate(clock.now().toISOString());
    const { brand, found } = await withBrand(db, params.brandId, async (id) => {
      const lookedAt = await readLookedAt(db, id);
      const [summaries, pages, dates, sources, incomplete] = await Promise.all([
        readBrandSummaries(db, [id]),
        listCoveredPages(db, id, to),
        listReliableDays(db, id, to),
        readSources(db, id),
        readIncompleteScans(db, id, to),
      ]);
      const days = { from: windowStart(to, COVERAGE_DAYS), to, count: dates.length, dates };
      const data = appendFields('{}', {
        brand: summaries.get(id)?.reference ?? 'null',
        known_since: JSON.stringify(sources.known_since),
        pages: arrayText(pages.items),
        pages_total: String(pages.total),
        reliable_days: JSON.stringify(days),
        sources: arrayText(sources.items),
        incomplete_scans: incomplete,
      });
      return { data, asOf: lookedAt };
    });
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});
