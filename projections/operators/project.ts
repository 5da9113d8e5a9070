import type { BrandFact } from '#contracts/events/brand.ts';
import type { OperatorFact } from '#contracts/events/operator.ts';
import { brandFacets } from '#projections/across/brand-facets.ts';
import { brandReference } from '#projections/across/brand-reference.ts';
import { type Change, projection } from '#projections/projection.ts';

/** Companies and what they were observed with, each association under every basis that names it. */
export const operators = projection<OperatorFact | BrandFact>({
  name: 'operators',
  version: 1,
  prefixes: ['operator-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    count: {
      columns: { operator_id: 'uuid' },
      touches: ['operator', 'association'],
      sql: `
        update operator o set domains = a.domains, pages = a.pages
        from :input i cross join lateral (
          select count(distinct key) filter (where kind = 'domain') as domains,
            count(distinct key) filter (where kind = 'page') as pages
          from association where operator_id = i.operator_id
        ) a
        where o.operator_id = i.operator_id`,
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
  project: (fact): readonly Change[] => {
    switch (fact.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return [...brandReference(fact), ...brandFacets(fact)];
      case 'OperatorNamed': {
        const { operator_id, name, country, observed_at } = fact.data;
        return [
          { kind: 'upsert', table: 'operator', key: { operator_id }, set: { name, country } },
          { kind: 'run', statement: 'observe', row: { operator_id, observed_at } },
        ];
      }
      case 'OperatorAssociationsChanged': {
        const { operator_id, basis, observed_at, ...changes } = fact.data;
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
