import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { ad, library, PAGE, typesOf } from '#tests/dsl/scans.ts';
import { runs } from '#tests/property-seed.ts';

const first = <T extends AdLibraryEvent['type']>(events: readonly AdLibraryEvent[], type: T) => {
  const found = events.find((event) => event.type === type);
  if (!found) throw new Error(`no ${type} among ${events.map((event) => event.type).join()}`);
  return found as Extract<AdLibraryEvent, { type: T }>;
};

describe('rule 1: absent is not stopped', () => {
  it('counts an ad absent once as missing, and still as active', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1), ad(2)]);
    expect(typesOf(shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1)]))).toEqual(['AdsMissed']);
    expect(shop.totals).toMatchObject({ active: 2, missing: 1, stopped: 0 });
  });

  it('confirms an ad absent from two complete scans at least 20 h apart', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1), ad(2)]);
    shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1)]);
    expect(typesOf(shop.scan({ at: '2026-05-03T05:00Z' }, [ad(1)])), 'after 19 h').toEqual([]);
    const stop = first(shop.scan({ at: '2026-05-03T06:00Z' }, [ad(1)]), 'AdConfirmedInactive');
    expect(stop.data).toMatchObject({
      basis: 'absence',
      stopped_on: null,
      last_seen_at: '2026-05-01T10:00:00.000Z',
      news: true,
    });
    expect(shop.totals).toMatchObject({ active: 1, missing: 0, stopped: 1 });
  });

  it('stops an ad by the flag or by a stop date up to the scan, but not by a later date', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1), ad(2), ad(3)]);
    const events = shop.scan({ at: '2026-05-02T10:00Z', complete: false }, [
      ad(1, { is_active: false }),
      ad(2, { stopped_on: '2026-05-02' }),
      ad(3, { stopped_on: '2026-05-03' }),
    ]);
    expect(typesOf(events)).toEqual(['AdConfirmedInactive', 'AdConfirmedInactive', 'AdsSeen']);
    expect(shop.totals).toMatchObject({ active: 1, stopped: 2 });
  });

  it.each([
    ['an incomplete scan', { complete: false }],
    ['a scan of other pages', { pages: ['200000002'] }],
    ['a scan of other countries', { countries: ['DE'] }],
  ])('ignores absence in %s', (_, options) => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)]);
    shop.scan({ at: '2026-05-02T10:00Z', ...options }, []);
    expect(typesOf(shop.scan({ at: '2026-05-04T10:00Z', ...options }, []))).toEqual([]);
    expect(shop.totals).toMatchObject({ active: 1, missing: 0 });
  });

  it('stops an ad with the country and the format that the same scan showed', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00:00Z' }, [ad(1, { format: 'image', countries: ['US'] })]);
    const ended = ad(1, { format: 'video', countries: ['CA'], is_active: false });
    const events = shop.scan({ at: '2026-05-02T10:00:00Z' }, [ended]);
    expect(events.find(({ type }) => type === 'AdConfirmedInactive')?.data).toMatchObject({
      countries: ['US', 'CA'],
      format: 'video',
    });
  });

  it('ignores the absence of an ad whose page is unknown', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z', pages: [PAGE, ''] }, [ad(1, { page_id: null }), ad(2)]);
    shop.scan({ at: '2026-05-02T10:00Z', pages: [PAGE] }, [ad(2)]);
    shop.scan({ at: '2026-05-04T10:00Z', pages: [PAGE] }, [ad(2)]);
    expect(shop.totals).toMatchObject({ active: 2, missing: 0 });
  });

  it('records a missing ad as seen when it is shown again', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)]);
    shop.scan({ at: '2026-05-02T10:00Z' }, []);
    expect(typesOf(shop.scan({ at: '2026-05-02T20:00Z' }, [ad(1)]))).toEqual(['AdsSeen']);
    shop.scan({ at: '2026-05-03T12:00Z' }, []);
    expect(shop.totals, 'the absence begins anew').toMatchObject({ missing: 1, stopped: 0 });
  });
});

describe('rule 2: an ad that comes back', () => {
  it('is recorded as returned, and counts as active again', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)]);
    shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1, { is_active: false })]);
    const returned = first(shop.scan({ at: '2026-05-09T10:00Z' }, [ad(1)]), 'AdReturned');
    expect(returned.data.inactive_since).toBe('2026-05-02T10:00:00.000Z');
    expect(shop.totals).toMatchObject({ active: 1, total: 1, returned: 1 });
  });
});

describe('rule 3: baseline, news and late', () => {
  const novelties = (events: readonly AdLibraryEvent[]) =>
    events.flatMap((event) => (event.type === 'AdStarted' ? [event.data.novelty] : []));

  it('makes the first scan of a page its baseline, for any start dates', () => {
    const shop = library();
    expect(
      novelties(shop.scan({ at: '2026-05-10T10:00Z' }, [ad(1, { started_on: '2026-05-10' }), ad(2)])),
    ).toEqual(['baseline', 'baseline']);
    const events = shop.scan({ at: '2026-05-11T10:00Z', pages: [PAGE, '300000003'] }, [
      ad(1),
      ad(2),
      ad(3, { page_id: '300000003', started_on: '2026-05-11' }),
    ]);
    expect(novelties(events)).toEqual(['baseline']);
  });

  it.each([
    ['2026-05-20', 'news'],
    ['2026-05-09', 'news'],
    ['2026-05-08', 'late'],
    [null, 'late'],
  ])(
    'gives a new ad that started on %s, after a complete scan on 2026-05-10, the novelty %s',
    (started_on, novelty) => {
      const shop = library();
      shop.scan({ at: '2026-05-10T10:00Z' }, [ad(1)]);
      expect(novelties(shop.scan({ at: '2026-05-20T10:00Z' }, [ad(1), ad(2, { started_on })]))).toEqual([
        novelty,
      ]);
    },
  );

  it('does not count the stop of an ad as news when the ad was first seen as stopped', () => {
    const shop = library();
    const events = shop.scan({ at: '2026-05-10T10:00Z' }, [
      ad(1, { is_active: false, stopped_on: '2026-05-01' }),
    ]);
    expect(first(events, 'AdConfirmedInactive').data.news).toBe(false);
    expect(shop.totals).toMatchObject({ active: 0, total: 1, baseline: 1, stopped: 0 });
  });
});

describe('scans of some countries', () => {
  const of = (at: string, country: string) => ({ at, countries: [country] });

  it('neither see nor miss ads of other countries', () => {
    const shop = library();
    shop.scan(of('2026-05-01T10:00Z', 'DE'), [ad(1)]);
    expect(typesOf(shop.scan(of('2026-05-02T10:00Z', 'US'), [ad(2)]))).toEqual(['AdStarted']);
    shop.scan(of('2026-05-03T10:00Z', 'US'), [ad(2)]);
    expect(typesOf(shop.scan(of('2026-05-04T10:00Z', 'DE'), []))).toEqual(['AdsMissed']);
    const stop = first(shop.scan(of('2026-05-05T10:00Z', 'DE'), []), 'AdConfirmedInactive');
    expect(stop.data).toMatchObject({ ad_id: ad(1).ad_id, last_seen_at: '2026-05-01T10:00:00.000Z' });
  });

  it('list the ads that they saw when the end of the scan does not imply it', () => {
    const shop = library();
    shop.scan(of('2026-05-01T10:00Z', 'DE'), [ad(1), ad(2)]);
    const events = shop.scan(of('2026-05-02T10:00Z', 'US'), [ad(1)]);
    expect(typesOf(events)).toEqual(['AdDetailsObserved', 'AdsSeen']);
    expect(first(events, 'ScanRecorded').data.pages).toMatchObject([{ page_id: PAGE, partial: true }]);
    const all = shop.scan({ at: '2026-05-03T10:00Z', countries: ['DE', 'US'] }, [ad(1), ad(2)]);
    expect(first(all, 'ScanRecorded').data.pages).toEqual([
      { page_id: PAGE, page_name: null, baseline: false },
    ]);
  });
});

describe('rule 4: blank never overwrites', () => {
  it('keeps existing values, and fills blanks without news', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [
      ad(1, { body: 'Soft socks', link_url: 'https://shop.example/socks' }),
    ]);
    const blank = shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1)]);
    expect(typesOf(blank)).toEqual(['AdsSeen']);
    expect(blank[0]?.data).toMatchObject({ blank: ['body', 'link_url'] });
    expect(typesOf(shop.scan({ at: '2026-05-02T20:00Z' }, [ad(1)])), 'the same fields').toEqual([]);
    const events = shop.scan({ at: '2026-05-03T10:00Z' }, [
      ad(1, { title: 'Socks', started_on: '2026-04-01' }),
    ]);
    expect(typesOf(events)).toEqual(['AdDetailsObserved']);
    expect([...shop.state.ads.values()][0]).toMatchObject({
      started_on: '2026-04-01',
      content: { body: 'Soft socks', title: 'Socks', link_url: 'https://shop.example/socks' },
    });
  });
});

describe('rule 5: destinations', () => {
  it.each([
    ['http://www.shop.example/a/', 'https://shop.example/a?utm_source=x&fbclid=1', false],
    [
      'https://shop.example/a?c={{campaign.name}}',
      'https://shop.example/a?c=%7B%7Bcampaign.name%7D%7D',
      false,
    ],
    [
      'http://play.google.com/store/apps/details?id=a.b&fbclid=1',
      'https://play.google.com/store/apps/details?id=a.b&hl=en',
      false,
    ],
    ['https://apps.apple.com/us/app/x/id123', 'https://apps.apple.com/in/app/y/id123?pt=1', false],
    ['https://apps.apple.com/us/app/x/id123', 'https://apps.apple.com/us/app/x/id124', true],
    ['https://shop.example/a', 'https://shop.example/b', true],
    ['https://shop.example/a?color=red', 'https://shop.example/a?color=blue', true],
  ])('compares %s with %s: changed %s', (from, to, changed) => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1, { link_url: from })]);
    const events = shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1, { link_url: to })]);
    expect(typesOf(events)).toEqual(changed ? ['AdDestinationChanged'] : []);
  });
});

describe('rule 6: another collector', () => {
  const texts = ['red', 'green', 'blue', 'grey'].map((colour) => `Socks in ${colour}`);
  const worded = (prefix: string) => texts.map((text, index) => ad(index + 1, { body: `${prefix}${text}` }));

  it('records a rewording when most texts differ, and compares later scans with the new wording', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, worded(''));
    const events = shop.scan({ at: '2026-05-02T10:00Z', collector: 'two' }, worded('0:00 / 0:45 '));
    expect(typesOf(events)).toEqual(['AdsReworded']);
    expect(shop.totals).toMatchObject({ revised: 0, reworded: 4 });
    expect(typesOf(shop.scan({ at: '2026-05-03T10:00Z', collector: 'two' }, worded('0:00 / 0:45 ')))).toEqual(
      [],
    );
    const one = ad(1, { body: '0:00 / 0:45 Socks in orange' });
    const revised = shop.scan({ at: '2026-05-04T10:00Z', collector: 'two' }, [
      one,
      ...worded('0:00 / 0:45 ').slice(1),
    ]);
    expect(typesOf(revised)).toEqual(['AdRevised']);
  });

  it('records the revision of one text when most texts are unchanged', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, worded(''));
    const events = shop.scan({ at: '2026-05-02T10:00Z', collector: 'two' }, [
      ad(1, { body: 'Hats' }),
      ...worded('').slice(1),
    ]);
    expect(typesOf(events)).toEqual(['AdRevised']);
  });

  it('records each difference as a revision when the collector is the same', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, worded(''));
    expect(typesOf(shop.scan({ at: '2026-05-02T10:00Z' }, worded('Sale! ')))).toEqual(
      Array.from({ length: 4 }, () => 'AdRevised'),
    );
  });
});

describe('rule 9: reliable days', () => {
  const other = '200000002';
  const reliable = (events: readonly AdLibraryEvent[]) => first(events, 'ScanRecorded').data.reliable;

  it('require complete scans of all linked pages on one day', () => {
    const shop = library();
    const linked = [PAGE, other];
    expect(reliable(shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)], linked))).toBe(false);
    expect(reliable(shop.scan({ at: '2026-05-01T12:00Z', pages: [other] }, [], linked))).toBe(true);
    expect(reliable(shop.scan({ at: '2026-05-02T12:00Z', pages: [other] }, [], linked))).toBe(false);
    expect(reliable(shop.scan({ at: '2026-05-03T12:00Z', pages: linked, complete: false }, [], linked))).toBe(
      false,
    );
    expect(reliable(shop.scan({ at: '2026-05-04T12:00Z', pages: linked }, [], linked))).toBe(true);
  });

  it('need a complete scan made for the brand when no page is linked', () => {
    const shop = library();
    expect(reliable(shop.scan({ at: '2026-05-01T10:00Z', pages: [PAGE, other] }, []))).toBe(true);
    expect(reliable(shop.scan({ at: '2026-05-02T10:00Z', pages: [PAGE] }, []))).toBe(true);
    expect(reliable(shop.scan({ at: '2026-05-03T10:00Z', pages: [], complete: false }, []))).toBe(false);
  });
});

describe('rule 11: late and repeated scans', () => {
  it('records a scan once', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)]);
    expect(shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1)])).toEqual([]);
  });

  it('decides an older scan at its own time', () => {
    const shop = library();
    shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1), ad(2)]);
    shop.scan({ at: '2026-05-08T10:00Z' }, [ad(1, { is_active: false }), ad(2)]);
    const events = shop.scan({ at: '2026-05-04T10:00Z' }, [ad(1)]);
    expect(typesOf(events)).toEqual(['AdObservationCorrected', 'AdObservationCorrected']);
    expect(first(events, 'ScanRecorded').data).toMatchObject({ late_arrival: true, chronological: true });
    expect(shop.totals).toMatchObject({ active: 2, missing: 1 });
    expect(shop.state.ads.get(ad(1).ad_id)).toMatchObject({
      status: 'inactive',
      seen_at: '2026-05-04T10:00:00.000Z',
    });
    expect(shop.state.ads.get(ad(2).ad_id)).toMatchObject({ status: 'active', missing_since: null });
  });

  it('marks an ad that only an older scan showed as missing since the newer scan', () => {
    const shop = library();
    shop.scan({ at: '2026-05-08T10:00Z' }, [ad(1)]);
    const corrected = first(
      shop.scan({ at: '2026-05-04T10:00Z' }, [ad(2, { started_on: '2026-05-04' })]),
      'AdObservationCorrected',
    );
    expect(corrected.data).toMatchObject({
      before: null,
      after: { novelty: 'baseline', status: 'missing', missing_since: '2026-05-08T10:00:00.000Z' },
    });
    shop.scan({ at: '2026-05-09T10:00Z' }, [ad(1)]);
    expect(shop.totals).toMatchObject({ active: 1, stopped: 1 });
  });
});

describe('any sequence of scans', () => {
  const scans = fc.array(
    fc.record({
      hoursLater: fc.integer({ min: 1, max: 60 }),
      complete: fc.boolean(),
      shown: fc.uniqueArray(fc.integer({ min: 1, max: 8 })),
      inactive: fc.uniqueArray(fc.integer({ min: 1, max: 8 })),
    }),
    { maxLength: 12 },
  );

  it('gives the same statuses as a simple model, and records nothing when decided again', () => {
    fc.assert(
      fc.property(scans, (sequence) => {
        const shop = library();
        const model = new Map<number, { status: 'active' | 'missing' | 'inactive'; since: number }>();
        let hours = 0;
        for (const { hoursLater, complete, shown, inactive } of sequence) {
          hours += hoursLater;
          const at = new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
          const ended = new Set(inactive);
          shop.scan(
            { at, complete },
            shown.map((id) => ad(id, { is_active: !ended.has(id) })),
          );
          for (const id of shown)
            model.set(id, { status: ended.has(id) ? 'inactive' : 'active', since: hours });
          if (!complete) continue;
          for (const [id, existing] of model) {
            if (shown.includes(id) || existing.status === 'inactive') continue;
            if (existing.status === 'active') model.set(id, { status: 'missing', since: hours });
            else if (hours - existing.since >= 20) model.set(id, { status: 'inactive', since: hours });
          }
        }
        const statuses = new Map(
          [...shop.state.ads.values()].map(({ ad_id, status }) => [Number(ad_id.replace(/^9+/, '')), status]),
        );
        expect(statuses).toEqual(new Map([...model].map(([id, { status }]) => [id, status])));
        if (sequence.length > 0) {
          const live = [...model.values()].filter(({ status }) => status !== 'inactive').length;
          expect(shop.totals).toMatchObject({ active: live, total: model.size });
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
