import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { OperatorEvent } from '#contracts/events/corpus/operator.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection } from '../define-projection.ts';

/** Recounts when a brand's visibility may have changed, because only public brands count. */
const refreshCounts = ({ type, data }: BrandEvent): readonly Change[] =>
  type === 'BrandProfileChanged' && data.changes.is_public === undefined
    ? []
    : [{ kind: 'refresh', statement: 'count_of_brand', row: { brand_id: data.brand_id } }];

const COUNTED = ['operator', 'association', 'brand'] as const;

const countOf = (operators: string): string => `
  update operator o set domains = a.domains, pages = a.pages, public_brands = a.public_brands
  from ${operators} i cross join lateral (
    select count(distinct k.key) filter (where k.kind = 'domain') as domains,
      count(distinct k.key) filter (where k.kind = 'page') as pages,
      count(distinct b.brand_id) filter (where b.is_public and b.slug is not null) as public_brands
    from association k left join brand b using (brand_id) where k.operator_id = i.operator_id
  ) a
  where o.operator_id = i.operator_id
    and (o.domains, o.pages, o.public_brands) is distinct from (a.domains, a.pages, a.public_brands)`;

export const operators = projection<OperatorEvent | BrandEvent>({
  name: 'operators',
  version: 3,
  prefixes: ['operator-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    count: { columns: { operator_id: 'uuid' }, touches: COUNTED, sql: countOf(':input') },
    count_of_brand: {
      columns: { brand_id: 'uuid' },
      touches: COUNTED,
      sql: countOf('(select distinct operator_id from association join :input b using (brand_id))'),
    },
    observe: {
      columns: { operator_id: 'uuid', observed_at: 'timestamptz' },
      touches: ['operator'],
      sql: `
        insert into operator as o (operator_id, observed_at)
        select operator_id, max(observed_at) from :input i group by operator_id
        on conflict (operator_id) do update set observed_at = greatest(o.observed_at, excluded.observed_at)`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return [...brandReference(event), ...brandFacets(event), ...refreshCounts(event)];
      case 'OperatorNamed': {
        const { operator_id, name, country, observed_at } = event.data;
        return [
          { kind: 'upsert', table: 'operator', key: { operator_id }, set: { name, country } },
          { kind: 'run', statement: 'observe', row: { operator_id, observed_at } },
        ];
      }
      case 'OperatorAssociationsChanged': {
        const { operator_id, basis, observed_at, ...changes } = event.data;
        const domainKey = (key: string) => ({ operator_id, kind: 'domain', key, basis });
        const pageKey = (key: string) => ({ operator_id, kind: 'page', key, basis });
        return [
          ...[
            ...changes.domains_removed.map(({ domain }) => domainKey(domain)),
            ...changes.pages_removed.map(pageKey),
          ].map((key): Change => ({ kind: 'delete', table: 'association', key })),
          ...changes.domains_added.map(
            ({ domain, brand_id }): Change => ({
              kind: 'upsert',
              table: 'association',
              key: domainKey(domain),
              set: { brand_id },
            }),
          ),
          ...changes.pages_added.map(
            (page): Change => ({
              kind: 'upsert',
              table: 'association',
              key: pageKey(page),
              set: { brand_id: null },
            }),
          ),
          { kind: 'run', statement: 'observe', row: { operator_id, observed_at } },
          { kind: 'refresh', statement: 'count', row: { operator_id } },
        ];
      }
    }
  },
});
