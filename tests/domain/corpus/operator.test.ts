import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperatorAssociationsChanged, OperatorEvent } from '#contracts/events/corpus/operator.ts';
import { OPERATOR_DOMAINS_MAX, OperatorRecord } from '#contracts/observations/operator-record.ts';
import { brandIdOf } from '#domain/ids.ts';
import { operator, operatorIdOf, recordOperator } from '#domain/corpus/operator.ts';
import { given } from '#tests/dsl/deciders.ts';

const ID = operatorIdOf('Harbor Holdings');
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00:00.000Z`;

const record = (said: Partial<OperatorRecord> = {}): OperatorRecord => ({
  type: 'operator.record',
  observed_at: at(1),
  name: 'Harbor Holdings',
  country: 'US',
  basis: 'site_imprint',
  domains: ['b.example', 'a.example', 'a.example'],
  page_ids: ['100000001'],
  ...said,
});
const named = (country: string | null = 'US', day = 1): OperatorEvent => ({
  type: 'OperatorNamed',
  data: { operator_id: ID, name: 'Harbor Holdings', country, observed_at: at(day) },
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
const first = changed({
  domains_added: [domain('a.example'), domain('b.example')],
  pages_added: ['100000001'],
});

describe('an operator', () => {
  it('is recorded by its name with what a basis names for it, each once', () => {
    given(operator).when(recordOperator(record())).records(named(), first);
  });

  it('is one company however its name is spaced and capitalised', () => {
    expect(operatorIdOf(' HARBOR   holdings')).toBe(ID);
    expect(operatorIdOf('Harbor Holdings Inc.')).not.toBe(ID);
  });

  it('records only what a basis names now and did not before, and what it names no longer', () => {
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(2), domains: ['c.example', 'b.example'] })))
      .records(
        changed({
          observed_at: at(2),
          domains_added: [domain('c.example')],
          domains_removed: [domain('a.example')],
        }),
      );
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(2), domains: ['b.example', 'a.example'] })))
      .records();
  });

  it('keeps what each basis names: another basis that is silent takes nothing away', () => {
    given(operator, named(), first)
      .when(recordOperator(record({ basis: 'filing', domains: [], page_ids: [], observed_at: at(2) })))
      .records();
    given(operator, named(), first)
      .when(recordOperator(record({ basis: 'filing', domains: ['a.example'], page_ids: [] })))
      .records(changed({ basis: 'filing', domains_added: [domain('a.example')] }));
  });

  it('learns of a country, and forgets none that is not said', () => {
    given(operator, named(null), first)
      .when(recordOperator(record({ observed_at: at(3) })))
      .records(named('US', 3));
    given(operator, named(), first)
      .when(recordOperator(record({ observed_at: at(3), country: null })))
      .records();
  });

  it('is not changed by a record older than the last of its basis', () => {
    given(operator, named('US', 5), changed({ observed_at: at(5), domains_added: [domain('a.example')] }))
      .when(recordOperator(record({ observed_at: at(4), country: 'DE' })))
      .records();
  });

  it('comes to what the newest record of each basis names, whatever came before', () => {
    const names = ['a.example', 'b.example', 'c.example', 'd.example'];
    const records = fc.array(
      fc.record({ day: fc.integer({ min: 1, max: 20 }), domains: fc.subarray(names) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(records, (drawn) => {
        let state = operator.initial;
        for (const { day, domains } of drawn) {
          const events = recordOperator(record({ observed_at: at(day), domains }))(state);
          state = events.reduce(operator.evolve, state);
        }
        // Of records of one moment the later one counts; an unchanged one leaves no trace of its time.
        const last = drawn.at(-1);
        const newest = drawn.every(({ day }) => day <= (last?.day ?? 0));
        if (newest) {
          expect([...(state?.associations.get('site_imprint')?.domains ?? [])].toSorted()).toEqual(
            last?.domains,
          );
        }
      }),
    );
  });
});

describe('refused at the door', () => {
  it.each([
    ['a basis nobody knows', { basis: 'hearsay' }],
    ['a domain that is none', { domains: ['not a domain'] }],
    [
      'too many domains',
      { domains: Array.from({ length: OPERATOR_DOMAINS_MAX + 1 }, (_, i) => `d${i}.example`) },
    ],
    ['a company without a name', { name: '  ' }],
    ['a field nobody knows', { revenue: 5 }],
  ])('%s', (_what, said) => {
    expect(OperatorRecord.safeParse({ ...record(), ...said }).success).toBe(false);
  });
});
