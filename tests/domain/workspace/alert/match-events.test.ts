import { expect, describe, test } from 'vitest';
import type { AdStarted } from '#contracts/events/corpus/ad-library.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { AlertPayload, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import {
  deliveryIdOf,
  triggersOfLibraryEvent,
  matchAdOnPage,
  matchPageLink,
  periodOf,
  UNKNOWN_PAGE,
} from '#domain/workspace/alert/match-events.ts';
import { alertItem, alertPayload } from '#domain/workspace/alert/payload.ts';
import { ad, BRAND, library, PAGE } from '#tests/dsl/scans.ts';

const ID = '0f6a1d52-8a3c-5d7e-b1f4-6c2e9a0b7d01';
const BRAND_NAME = { brand_id: BRAND, slug: 'shop', name: 'Shop', logo_url: null };
const BASE_URL = 'https://api.test';
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T08:00:00Z`;

const events = () => {
  const shop = library();
  const link = (path: string) => `https://shop.example/${path}`;
  return [
    ...shop.scan({ at: at(1) }, [ad(1, { link_url: link('a') }), ad(2)]),
    ...shop.scan({ at: at(2) }, [
      ad(1, { link_url: link('b') }),
      ad(2, { is_active: false }),
      ad(3, { started_on: '2026-05-02', title: 'Warm\n boots', link_url: link('c') }),
      ad(4, { started_on: '2026-01-02' }),
    ]),
  ];
};

describe('happeningsInLibrary', () => {
  test('returns launches, stops and changed links, but no baseline or late ads', () => {
    const happenings = events().flatMap((event) => triggersOfLibraryEvent(ID, event));
    expect(happenings.map(({ trigger, type, ad_id }) => [trigger, type, ad_id])).toEqual([
      ['page_changes', 'destination_changed', '9999999991'],
      ['stopped_ads', 'ad_stopped', '9999999992'],
      ['new_ads', 'ad_started', '9999999993'],
    ]);
    expect(happenings.map((one) => alertItem(one, BRAND_NAME, BASE_URL).title)).toEqual([
      'An ad of Shop links to https://shop.example/b and no longer to https://shop.example/a',
      'The library shows an ad of Shop as ended.',
      'Shop was observed running a new ad: “Warm boots”',
    ]);
  });

  test.each([
    ['https://bank.example@evil.example/', 'https://evil.example/'],
    ['bank.example@evil.example', 'a link that is not shown'],
    ['javascript:alert(1)', 'a link that is not shown'],
    [null, 'no page'],
  ])('names the link %s of an event from before links were checked as %s', (stored, named) => {
    const changed = events()
      .flatMap((event) => triggersOfLibraryEvent(ID, event))
      .find(({ type }) => type === 'destination_changed');
    if (!changed) throw new Error('no link changed');
    const links = { destination_url: stored, previous_destination_url: stored };
    const item = alertItem({ ...changed, ...links }, BRAND_NAME, BASE_URL);
    expect(item.title).toBe(`An ad of Shop links to ${named} and no longer to ${named}`);
  });
});

describe('meetAdOnPage', () => {
  const started = (changes: Partial<AdStarted['data']> = {}): AdStarted => {
    const event = events().find(
      ({ type, data }) => type === 'AdStarted' && data.observed_at > at(2).slice(0, 11),
    );
    return { type: 'AdStarted', data: { ...(event as AdStarted).data, ...changes } };
  };
  const meet = (page: Parameters<typeof matchAdOnPage>[2], event = started(), since: string | null = at(1)) =>
    matchAdOnPage(ID, event, page, since);

  test('reports a new partner once, for the first ad on a page', () => {
    const first = meet(UNKNOWN_PAGE);
    expect(first.happenings).toMatchObject([
      { trigger: 'new_partners', type: 'partner_started', page_id: PAGE },
    ]);
    expect(meet(first.page)).toEqual({ page: first.page, happenings: [] });
  });

  test.each(['CREATOR', 'PARTNER'] as const)('reports a new partner on a page linked as %s', (role) => {
    expect(meet({ ...UNKNOWN_PAGE, role }).happenings).toHaveLength(1);
  });

  test.each(['OFFICIAL', 'REGIONAL', 'RESELLER', 'UNVERIFIED'] as const)(
    'reports no new partner on a page linked as %s',
    (role) => {
      expect(meet({ ...UNKNOWN_PAGE, role })).toEqual({
        page: { role, ran_ads: true, was_new_partner: false },
        happenings: [],
      });
    },
  );

  test('reports no new partner in the first scan of the brand, nor for the same page later', () => {
    const first = meet(UNKNOWN_PAGE, started(), null);
    expect(first.happenings).toEqual([]);
    expect(meet(first.page).happenings).toEqual([]);
  });

  test('reports a new partner only for ads that started after the last complete scan and are not late', () => {
    expect(meet(UNKNOWN_PAGE, started({ started_on: '2026-04-20' })).happenings).toEqual([]);
    expect(meet(UNKNOWN_PAGE, started({ started_on: null })).happenings).toEqual([]);
    expect(meet(UNKNOWN_PAGE, started({ novelty: 'late' })).happenings).toEqual([]);
    expect(meet(UNKNOWN_PAGE, started({ novelty: 'baseline' })).happenings).toHaveLength(1);
  });
});

describe('meetPageLink', () => {
  const link = (role: 'OFFICIAL' | 'CREATOR', confidence = 1): SocialPageEvent => ({
    type: 'PageLinked',
    data: { page_id: PAGE, page_name: 'Ada', brand_id: BRAND, role, confidence, observed_at: at(3) },
  });
  const unlink: SocialPageEvent = {
    type: 'PageUnlinked',
    data: { page_id: PAGE, brand_id: BRAND, observed_at: at(4) },
  };
  const typesAfter = (...links: readonly SocialPageEvent[]): readonly string[] => {
    let page = UNKNOWN_PAGE;
    return links.flatMap((event) => {
      const outcome = matchPageLink(ID, event, page);
      page = outcome.page;
      return outcome.happenings.map(({ type }) => type);
    });
  };

  test('reports a linked page once, and ignores later changes of the link', () => {
    expect(typesAfter(link('OFFICIAL'), link('OFFICIAL', 0.5), unlink, link('OFFICIAL'))).toEqual([
      'page_linked',
      'page_linked',
    ]);
  });

  test('reports nothing for a repeated or older observation of a link, and keeps the role', () => {
    const observed = (status: 'linked' | 'unlinked'): SocialPageEvent => ({
      type: 'PageLinkObserved',
      data: { page_id: PAGE, brand_id: BRAND, status, claim: 'OFFICIAL', confidence: 1, observed_at: at(2) },
    });
    const links = [link('OFFICIAL'), observed('linked'), observed('unlinked'), link('OFFICIAL', 0.9)];
    expect(typesAfter(...links)).toEqual(['page_linked']);
    const page = links.reduce((before, event) => matchPageLink(ID, event, before).page, UNKNOWN_PAGE);
    expect(page.role).toBe('OFFICIAL');
  });

  test('reports a new partner once, when it is linked as one or becomes one', () => {
    expect(typesAfter(link('CREATOR'), unlink, link('CREATOR'))).toEqual([
      'page_linked',
      'partner_started',
      'page_linked',
    ]);
    expect(typesAfter(link('OFFICIAL'), link('CREATOR'))).toEqual(['page_linked', 'partner_started']);
  });
});

describe('periodOf', () => {
  test('returns the UTC day, or the ISO week from Monday', () => {
    expect(periodOf('daily', '2026-12-31T23:59:59.999Z')).toEqual({
      from: '2026-12-31',
      to: '2026-12-31',
      end: '2027-01-01T00:00:00.000Z',
    });
    const week = { from: '2026-12-28', to: '2027-01-03', end: '2027-01-04T00:00:00.000Z' };
    for (const day of ['2026-12-28', '2027-01-01', '2027-01-03'])
      expect(periodOf('weekly', day)).toEqual(week);
  });
});

describe('alertPayload', () => {
  const rule = {
    workspace_id: 'ws_1',
    alert_id: ID,
    name: 'Launches',
    trigger: 'new_ads',
    cadence: 'daily',
  } as const;
  const [happening] = events().flatMap((event) => triggersOfLibraryEvent(ID, event));

  test('matches the published schema, and counts the items that it leaves out', () => {
    if (!happening) throw new Error('nothing happened');
    const item = alertItem(happening, BRAND_NAME, BASE_URL);
    const matched = {
      items: Array.from({ length: PAYLOAD_ITEMS_MAX }, () => item),
      items_total: PAYLOAD_ITEMS_MAX + 7,
      as_of: item.observed_at,
    };
    const delivery_id = deliveryIdOf(ID, 'webhook', 'cause');
    const period = periodOf('daily', at(2));
    const payload = alertPayload({ delivery_id, kind: 'digest', rule, matched, period, at: period.end });
    expect(AlertPayload.parse(payload)).toEqual(payload);
    expect(payload).toMatchObject({
      id: delivery_id,
      type: 'alert.digest',
      period: { from: '2026-05-02', to: '2026-05-02' },
      items_total: PAYLOAD_ITEMS_MAX + 7,
      as_of: happening.observed_at,
    });
    expect(payload.items).toHaveLength(PAYLOAD_ITEMS_MAX);
  });

  test('has a distinct delivery id for each rule, channel and cause', () => {
    const ids = [
      deliveryIdOf(ID, 'webhook', 'a'),
      deliveryIdOf(ID, 'email', 'a'),
      deliveryIdOf(ID, 'webhook', 'b'),
      deliveryIdOf(BRAND, 'webhook', 'a'),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(deliveryIdOf(ID, 'webhook', 'a')).toBe(ids[0]);
  });
});
