import { type TrafficFact, type TrafficFigures, trafficStream } from '#contracts/events/corpus/traffic.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { categoryPathOf } from '#domain/corpus/category.ts';
import { registered } from './corpus.ts';
import type { ApiStack } from './stack.ts';

/** Brands with categories and estimates of their sites: what the API's tests of traffic read. */

const METADATA = {
  $correlationId: 'traffic',
  $causationId: 'traffic',
  request_id: 'traffic',
  actor: { kind: 'service', id: 'tests' },
  schema_version: 1,
} as const;

export const OBSERVED_AT = '2026-06-10T00:00:00.000Z';

export type Site = {
  readonly domain: string;
  /** Not a brand of the service where there is none. */
  readonly path?: readonly string[];
  readonly is_public?: boolean;
  readonly months?: Readonly<Record<string, Partial<TrafficFigures>>>;
};

export const sharesOf = (
  shares: Partial<TrafficFigures['demographics']>,
): TrafficFigures['demographics'] => ({
  female: null,
  male: null,
  age_18_24: null,
  age_25_34: null,
  age_35_44: null,
  age_45_54: null,
  age_55_64: null,
  age_65_plus: null,
  ...shares,
});

export const similar = (domain: string, affinity: number): TrafficFigures['similar_sites'][number] => ({
  domain,
  brand_id: brandIdOf(domain),
  affinity,
  provider_category: null,
});

/** Records the sites and waits until every projection shows them. */
export const seedSites = async (stack: ApiStack, sites: readonly Site[]): Promise<void> => {
  let position = 0n;
  for (const { domain, path, is_public = true, months = {} } of sites) {
    const brandId = brandIdOf(domain);
    if (path !== undefined) {
      const fact = registered(domain, '2026-05-01T00:00:00.000Z', {
        category_path: categoryPathOf(path),
        is_public,
      });
      const stream = brandStream(brandId);
      ({ position } = await stack.eventStore.append(stream, -1n, [fact], METADATA, `brand ${domain}`));
    }
    const facts = Object.entries(months).map(
      ([date, figures]): TrafficFact => ({
        type: 'TrafficEstimated',
        data: {
          domain,
          brand_id: brandId,
          date,
          provider: 'estimates',
          observed_at: OBSERVED_AT,
          figures,
        },
      }),
    );
    if (facts.length === 0) continue;
    const stream = trafficStream(domain);
    ({ position } = await stack.eventStore.append(stream, -1n, facts, METADATA, `traffic ${domain}`));
  }
  await stack.projected(position);
};
