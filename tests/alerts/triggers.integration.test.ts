import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertTrigger } from '#contracts/values/alerts.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { AlertPayload, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ad, BRAND, library, PAGE } from '../dsl/scans.ts';
import { type AlertsStack, openAlertsStack, type Queued, type Rule, scanEvents } from './stack.ts';

const PARTNER_PAGE = '100000009';

let stack: AlertsStack;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openAlertsStack());
});
afterAll(() => resources.disposeAsync());

const itemsOf = (queued: readonly Queued[]): readonly (readonly string[])[] =>
  queued.map(({ payload }) => payload.items.map(({ type, ad_id }) => `${type} ${ad_id?.slice(-1)}`));

test('each rule gets the matches of its trigger from recorded scans', async () => {
  await using _ = stack.start();
  expect(await stack.brand('shop.example')).toBe(BRAND);
  const triggers = ['new_ads', 'stopped_ads', 'page_changes', 'new_partners'] as const;
  const rules = new Map<AlertTrigger, Rule>();
  for (const trigger of triggers) rules.set(trigger, await stack.rule([BRAND], { trigger }));
  const told = async (trigger: AlertTrigger) => {
    const rule = rules.get(trigger);
    return itemsOf(rule ? await stack.queued(rule) : []);
  };

  const shop = library();
  const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T08:00:00Z`;
  const scan = async (day: number, ...ads: readonly ObservedAd[]): Promise<void> => {
    const events = shop.scan({ at: at(day), pages: [PAGE, PARTNER_PAGE] }, ads);
    await stack.append(adLibraryStream(BRAND), events);
    await stack.matched();
  };
  const link = (path: string): Partial<ObservedAd> => ({ link_url: `https://shop.example/${path}` });
  const first = ad(1, link('a'));
  const second = ad(2);
  const third = ad(3, { started_on: '2026-05-02' });
  const partners = ad(4, { page_id: PARTNER_PAGE, started_on: '2026-05-02' });

  await scan(1, first, second);
  for (const trigger of triggers) expect(await told(trigger), `${trigger}, of a baseline`).toEqual([]);

  // One destination changed, one ad ended, one ad began on a page of the brand, and one on a page that never ran
  // ads.
  await scan(2, ad(1, link('b')), ad(2, { is_active: false }), third, partners);
  expect(await told('new_ads')).toEqual([['ad_started 3', 'ad_started 4']]);
  expect(await told('stopped_ads')).toEqual([['ad_stopped 2']]);
  expect(await told('page_changes')).toEqual([['destination_changed 1']]);
  expect(await told('new_partners')).toEqual([['partner_started 4']]);

  // An ad absent from one complete scan is missing; absent from the next one too, it is stopped. The partner ad
  // continues.
  await scan(3, ad(1, link('b')), partners);
  expect(await told('stopped_ads')).toHaveLength(1);
  await scan(4, ad(1, link('b')), partners, ad(5, { page_id: PARTNER_PAGE, started_on: '2026-05-04' }));
  expect((await told('stopped_ads')).slice(1)).toEqual([['ad_stopped 3']]);
  expect((await told('new_ads')).slice(1)).toEqual([['ad_started 5']]);

  // An ad that reappears does not count as a launch, and repeating the scan matches nothing.
  const before = await Promise.all(triggers.map(told));
  await scan(5, ad(1, link('b')), second, partners, ad(5, { page_id: PARTNER_PAGE }));
  await scan(5, ad(1, link('b')), second, partners, ad(5, { page_id: PARTNER_PAGE }));
  expect(await Promise.all(triggers.map(told))).toEqual(before);
});

test('linked pages and new partners go to the rules with these triggers', async () => {
  await using _ = stack.start();
  const brand = await stack.brand('pages.example');
  const rules = [
    await stack.rule([brand], { trigger: 'page_changes' }),
    await stack.rule([brand], { trigger: 'new_partners' }),
  ] as const;
  const link = (page_id: string, role: 'OFFICIAL' | 'CREATOR'): SocialPageEvent => ({
    type: 'PageLinked',
    data: {
      page_id,
      page_name: 'Ada',
      brand_id: brand,
      role,
      confidence: 1,
      observed_at: '2026-05-02T08:00:00.000Z',
    },
  });
  await stack.link(link('200000001', 'OFFICIAL'));
  await stack.link(link('200000002', 'CREATOR'));
  await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1, '200000003'));
  await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 2, '200000004'));
  await stack.scan(scanEvents(brand, '2026-05-04T08:00:00.000Z', 2, '200000004'));
  await stack.matched();
  const [linked, partners] = [await stack.queued(rules[0]), await stack.queued(rules[1])];
  const titlesOf = (queued: readonly Queued[]) =>
    queued.flatMap(({ payload }) => payload.items.map(({ title }) => title));
  expect(titlesOf(linked)).toEqual([
    'The page “Ada” was observed as an official page of pages.',
    "The page “Ada” was observed as a creator's page of pages.",
  ]);
  expect(titlesOf(partners)).toEqual([
    "The page “Ada” was observed as a creator's page of pages for the first time.",
    'An ad of pages was observed on the page 200000004 for the first time: “Ad 0”',
  ]);
});

test('a scan of thousands of launches is one delivery with the first hundred items and the total count', async () => {
  await using _ = stack.start();
  const brand = await stack.brand('thousands.example');
  const rule = await stack.rule([brand]);
  const events = scanEvents(brand, '2026-05-02T08:00:00.000Z', 2_600);
  await stack.scan(events.slice(0, 1_300));
  await stack.scan(events.slice(1_300));
  await stack.matched();
  const [only, ...more] = await stack.queued(rule);
  expect(more).toEqual([]);
  expect(AlertPayload.parse(only?.payload).items_total).toBe(2_600);
  expect(only?.payload.items.map(({ ad_id }) => ad_id)).toEqual(
    events.slice(0, PAYLOAD_ITEMS_MAX).map(({ data }) => ('ad_id' in data ? data.ad_id : '')),
  );
});

test('interleaved scans of two brands make one delivery each', async () => {
  await using _ = stack.start();
  const [one, other] = [await stack.brand('one.example'), await stack.brand('other.example')];
  const rule = await stack.rule([one, other]);
  const [events, others] = [
    scanEvents(one, '2026-05-02T08:00:00.000Z', 3),
    scanEvents(other, '2026-05-02T08:00:00.000Z', 2),
  ];
  await stack.scan(events.slice(0, 2));
  await stack.scan(others.slice(0, 1));
  await stack.scan(events.slice(2));
  await stack.scan(others.slice(1));
  await stack.matched();
  const queued = await stack.queued(rule);
  expect(queued.map(({ payload }) => payload.items.map(({ brand }) => brand.id))).toEqual([
    [one, one, one],
    [other, other],
  ]);
});
