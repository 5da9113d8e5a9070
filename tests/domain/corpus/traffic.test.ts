import { trafficEstimate as estimate } from '#tests/dsl/site-events.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrafficEvent, TrafficFigures } from '#contracts/events/corpus/traffic.ts';
import { Observation } from '#contracts/observations/index.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { brandIdOf } from '#domain/ids.ts';
import { recordTrafficEstimate, traffic } from '#domain/corpus/traffic.ts';
import { given } from '#tests/dsl/deciders.ts';

const at = (day: number): string => `2026-06-0${day}T00:00:00.000Z`;

const estimated = (
  figures: Partial<TrafficFigures>,
  fields: { date?: string; observed_at?: string; confirmed?: readonly (keyof TrafficFigures)[] } = {},
): TrafficEvent => ({
  type: 'TrafficEstimated',
  data: {
    domain: 'shop.example',
    brand_id: brandIdOf('shop.example'),
    date: '2026-05-01',
    provider: 'estimates',
    observed_at: at(2),
    ...fields,
    figures,
  },
});

const SHARES = {
  female: 0.6,
  male: 0.4,
  age_18_24: 0.2,
  age_25_34: 0.3,
  age_35_44: 0.2,
  age_45_54: 0.1,
  age_55_64: 0.1,
  age_65_plus: null,
};

describe('recordTrafficEstimate', () => {
  it('records the figures of a month, with countries and similar sites sorted', () => {
    given(traffic)
      .when(
        recordTrafficEstimate(
          estimate({
            monthly_visits: 1_000,
            countries: [
              { country: 'CA', share: 0.1 },
              { country: 'US', share: 0.7 },
            ],
            similar_sites: [
              { domain: 'b.example', affinity: 0.2, provider_category: null },
              { domain: 'a.example', affinity: 0.9, provider_category: 'Shoes' },
            ],
          }),
        ),
      )
      .records(
        estimated({
          monthly_visits: 1_000,
          countries: [
            { country: 'US', share: 0.7 },
            { country: 'CA', share: 0.1 },
          ],
          similar_sites: [
            {
              domain: 'a.example',
              brand_id: brandIdOf('a.example'),
              affinity: 0.9,
              provider_category: 'Shoes',
            },
            { domain: 'b.example', brand_id: brandIdOf('b.example'), affinity: 0.2, provider_category: null },
          ],
        }),
      );
  });

  it('records only the changed figures, and ignores blanks', () => {
    given(traffic, estimated({ monthly_visits: 1_000, global_ranking: 7, demographics: SHARES }))
      .when(
        recordTrafficEstimate(
          estimate({ observed_at: at(3), monthly_visits: 1_200, global_rank: 7, demographics: SHARES }),
        ),
      )
      .records(
        estimated(
          { monthly_visits: 1_200 },
          { observed_at: at(3), confirmed: ['global_ranking', 'demographics'] },
        ),
      );
  });

  it('records figures that are stated again, so that an older estimate overwrites nothing', () => {
    const first = estimated({ monthly_visits: 1_000 }, { observed_at: at(1) });
    const again = estimated({}, { observed_at: at(4), confirmed: ['monthly_visits'] });
    given(traffic, first)
      .when(recordTrafficEstimate(estimate({ observed_at: at(4), monthly_visits: 1_000 })))
      .records(again);
    given(traffic, first, again)
      .when(recordTrafficEstimate(estimate({ observed_at: at(3), monthly_visits: 7 })))
      .records();
  });

  it('records an older month without changing later months', () => {
    given(traffic, estimated({ monthly_visits: 1_000 }))
      .when(recordTrafficEstimate(estimate({ observed_at: at(5), period: '2026-03', monthly_visits: 800 })))
      .records(estimated({ monthly_visits: 800 }, { observed_at: at(5), date: '2026-03-01' }));
  });

  it('records days apart from their month and from each other', () => {
    given(traffic, estimated({ global_ranking: 7 }, { date: '2026-05-02' }))
      .when(recordTrafficEstimate(estimate({ period: '2026-05-03', global_rank: 7 })))
      .records(estimated({ global_ranking: 7 }, { date: '2026-05-03' }));
  });

  it('fills blanks but changes no figure when the observation is not newer', () => {
    given(traffic, estimated({ monthly_visits: 1_000 }))
      .when(recordTrafficEstimate(estimate({ observed_at: at(1), monthly_visits: 1, global_rank: 5 })))
      .records(estimated({ global_ranking: 5 }, { observed_at: at(1), confirmed: [] }));
    given(traffic, estimated({ monthly_visits: 1_000 }))
      .when(recordTrafficEstimate(estimate({ monthly_visits: 1 })))
      .records();
  });

  it('records nothing when the same estimates are repeated in any order', () => {
    const observed = fc.record({
      day: fc.integer({ min: 1, max: 9 }),
      month: fc.integer({ min: 1, max: 3 }),
      visits: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(observed, { maxLength: 12 }), fc.integer({ min: 0 }), (list, turn) => {
        const inTime = list
          .toSorted((one, other) => one.day - other.day)
          .map(({ day, month, visits }) =>
            estimate({ observed_at: at(day), period: `2026-0${month}`, monthly_visits: visits }),
          );
        const state = inTime.reduce(
          (existing, one) => recordTrafficEstimate(one)(existing).reduce(traffic.evolve, existing),
          traffic.initial,
        );
        const turned = inTime.map(
          (_, index) => inTime[(index * 7 + turn) % inTime.length] as TrafficEstimate,
        );
        for (const one of [...turned, ...inTime]) expect(recordTrafficEstimate(one)(state)).toEqual([]);
      }),
    );
  });
});

describe('the estimate schema', () => {
  const faultOf = (fields: object): string => {
    const parsed = Observation.safeParse({ ...estimate(), ...fields });
    const issue = parsed.error?.issues[0];
    return issue ? `${issue.path.join('.')}: ${issue.message}` : 'taken';
  };
  const country = (code: string, share: number) => ({ country: code, share });
  const site = (domain: string, affinity: number) => ({ domain, affinity, provider_category: null });
  it.each([
    ['negative visits', { monthly_visits: -1 }, /monthly_visits: /],
    ['half a visit', { monthly_visits: 0.5 }, /monthly_visits: /],
    ['a rank of 0', { global_rank: 0 }, /global_rank: /],
    ['a percentage', { countries: [country('US', 62)] }, /countries.0.share: .*not a percentage/],
    ['a share over the whole', { demographics: { ...SHARES, male: 1.01 } }, /demographics.male: .*0 to 1/],
    [
      'more than all of them',
      { countries: [country('US', 0.7), country('CA', 0.7)] },
      /adds up to more than 1/,
    ],
    ['more than everybody', { demographics: { ...SHARES, male: 0.5 } }, /female and male together/],
    ['more than all ages', { demographics: { ...SHARES, age_65_plus: 0.2 } }, /age groups together/],
    ['a country twice', { countries: [country('US', 0.1), country('US', 0.2)] }, /a country twice/],
    ['a country by its name', { countries: [country('usa', 0.1)] }, /countries.0.country/],
    ['an affinity over 1', { similar_sites: [site('a.example', 2)] }, /similar_sites.0.affinity/],
    ['a site twice', { similar_sites: [site('a.example', 1), site('a.example', 0)] }, /a site twice/],
    ['a month that is none', { period: '2026-13' }, /a month YYYY-MM or a date YYYY-MM-DD/],
    ['a day that is none', { period: '2026-02-30' }, /a month YYYY-MM or a date YYYY-MM-DD/],
    ['a month to come', { period: '2026-07' }, /period: lies after the observation/],
    ['a day to come', { period: '2026-06-03' }, /period: lies after the observation/],
    ['an unknown field', { bounce_rate: 0.4 }, /bounce_rate/],
    ['a share missing', { demographics: { female: 0.5, male: 0.5 } }, /demographics.age_18_24/],
  ])('rejects %s', (_, fields, fault) => {
    expect(faultOf(fields)).toMatch(fault);
  });
  it('accepts a valid estimate', () => {
    expect(faultOf({ demographics: SHARES, countries: [country('US', 1)], period: '2026-05-31' })).toBe(
      'taken',
    );
  });
});
