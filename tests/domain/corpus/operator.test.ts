import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperatorAssociationsChanged, OperatorEvent } from '#contracts/events/corpus/operator.ts';
import { OPERATOR_DOMAINS_MAX, OperatorRecord } from '#contracts/observations/operator-record.ts';
import { brandIdOf } from '#domain/ids.ts';
import { operator, operatorIdOf, recordOperator } from '#domain/corpus/operator.ts';
import { given } from '#tests/dsl/deciders.ts';

const ID = operatorIdOf('Harbor Holdings');
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00:00.000Z`;

const record = (fields: Partial<OperatorRecord> = {}): OperatorRecord => ({
  type: 'operator.record',
  observed_at: at(1),
  name: 'Harbor Holdings',
  country: 'US',
  basis: 'site_imprint',
  domains: ['b.example', 'a.example', 'a.example'],
  page_ids: ['100000001'],
  ...fields,
});
type NamedField = 'name' | 'country';
const named = (
  country: string | null = 'US',
  day = 1,
  stated: readonly NamedField[] = country === null ? ['name'] : ['name', 'country'],
): OperatorEvent => ({
  type: 'OperatorNamed',
  data: { operator_id: ID, name: 'Harbor Holdings', country, observed_at: at(day), stated },
});
const changed = (data: Partial<OperatorAssociationsChanged['data']>): OperatorEvent => ({
  type: 'OperatorAssociationsChanged',
  data: {
    operator_id: ID,
    basis: 'site_imprint',
    observed_at: at(1),
    domains_added: [],
    domains_removed: [],
    pages_added: [],
    pages_removed: [],
    ...data,
  },
});
const domain = (name: string) => ({ domain: name, brand_id: brandIdOf(name) });
const CONFIRMED = { confirmed: ['name', 'country'] } as const;
const first = changed({
  domains_added: [domain('a.example'), domain('b.example')],
  pages_added: ['100000001'],
});

describe('recordOperator', () => {
  it('records the company and its associations of one basis without duplicates', () => {
    given(operator).when(recordOperator(record())).records(named(), first);
  });

  it('treats names in other spacing and capitalisation as one company', () => {
    expect(operatorIdOf(' HARBOR   holdings')).toBe(ID);
    expect(operatorIdOf('Harbor Holdings Inc.')).not.toBe(ID);
  });

  it('records only the associations that a basis added or removed', () => {
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(2), domains: ['c.example', 'b.example'] })))
      .records(
        changed({
          ...CONFIRMED,
          observed_at: at(2),
          domains_added: [domain('c.example')],
          domains_removed: [domain('a.example')],
        }),
      );
  });

  it('records that nothing changed, so that an older record overwrites nothing', () => {
    const again = [changed({ ...CONFIRMED, observed_at: at(3) })];
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(3), domains: ['b.example', 'a.example'] })))
      .records(...again);
    given(operator, named(), first, ...again)
      .when(recordOperator(record({ observed_at: at(2), country: 'DE', domains: [] })))
      .records();
  });

  it('keeps the associations of a basis when another basis does not have them', () => {
    given(operator, named(), first)
      .when(recordOperator(record({ basis: 'filing', domains: [], page_ids: [], observed_at: at(2) })))
      .records(changed({ ...CONFIRMED, basis: 'filing', observed_at: at(2) }));
    given(operator, named(), first)
      .when(recordOperator(record({ basis: 'filing', domains: ['a.example'], page_ids: [] })))
      .records(changed({ basis: 'filing', domains_added: [domain('a.example')] }));
  });

  it('records a country, and keeps it when a record has none', () => {
    given(operator, named(null), first)
      .when(recordOperator(record({ observed_at: at(3) })))
      .records(named('US', 3), changed({ observed_at: at(3) }));
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(3), country: null })))
      .records(changed({ confirmed: ['name'], observed_at: at(3) }));
  });

  it('ignores a record older than the last one of its basis', () => {
    given(operator, named('US', 5), changed({ observed_at: at(5), domains_added: [domain('a.example')] }))
      .when(recordOperator(record({ observed_at: at(4), country: 'DE' })))
      .records();
  });

  it('has the associations of the newest record of each basis, in any order of records', () => {
    const names = ['a.example', 'b.example', 'c.example', 'd.example'];
    const records = fc.array(
      fc.record({ day: fc.integer({ min: 1, max: 20 }), domains: fc.subarray(names) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(records, (generated) => {
        let state = operator.initial;
        for (const { day, domains } of generated) {
          const events = recordOperator(record({ observed_at: at(day), domains }))(state);
          state = events.reduce(operator.evolve, state);
        }
        // At the same time, the domains that sort last count.
        const [newest] = generated.toSorted(
          (one, other) =>
            other.day - one.day || (JSON.stringify(one.domains) > JSON.stringify(other.domains) ? -1 : 1),
        );
        expect([...(state?.associations.get('site_imprint')?.domains ?? [])].toSorted()).toEqual(
          newest?.domains,
        );
      }),
    );
  });
});

describe('the operator record schema', () => {
  it.each([
    ['an unknown basis', { basis: 'hearsay' }],
    ['a domain that is none', { domains: ['not a domain'] }],
    ['a company without a name', { name: '  ' }],
    ['a field nobody knows', { revenue: 5 }],
  ])('rejects %s', (_what, fields) => {
    expect(OperatorRecord.safeParse({ ...record(), ...fields }).success).toBe(false);
  });

  it('leaves out the domains over the limit', () => {
    const domains = Array.from({ length: OPERATOR_DOMAINS_MAX + 1 }, (_, i) => `d${i}.example`);
    expect(OperatorRecord.parse(record({ domains })).domains).toEqual(domains.slice(0, -1));
  });
});
