import { describe, expect, test } from 'vitest';
import type { AdStarted } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import type { GivenEvent } from '#tests/dsl/projections.ts';
import { siteEvents, siteScan, siteSplitTest, siteTool } from '#tests/dsl/site-events.ts';
import { brand, start } from '#tests/projections/fixtures/network-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL } from '../fixtures/corpus.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const AB = 'A/B testing';
const [ARMS, DARK] = [siteTool('arms', AB), siteTool('dark', AB)];

/** The ad itself links to the landing page of its first card. */
const withCards = ({ stream, event }: GivenEvent, count: number): GivenEvent => {
  const { data } = event as AdStarted;
  const [card, ...more] = Array.from({ length: count }, (_, nth) => ({
    body: null,
    title: null,
    link_description: null,
    cta_text: null,
    link_url: `https://deck.example/${nth + 1}`,
  }));
  const cards = card ? [card, ...more] : [];
  const content = { ...data.content, cards, link_url: card?.link_url ?? null };
  return { stream, event: { ...event, data: { ...data, content } } };
};

const splitTestsOf = async (slug: string) => {
  const reply = await on(app).get(`/v1/brands/${slug}/split-tests`, { key });
  return { ...reply, found: reply.data as Record<string, unknown> };
};

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([
  stack.api(),
  stack.key(),
  stack.seed(['alpha', 'beta', 'gamma', 'delta']),
]);
await seedEvents(stack, [
  brand('deck'),
  ...[1, 2, 3].map((nth) => withCards(start('deck', `800000000${nth}`), nth)),
  ...siteEvents(
    siteScan('deck.example', '2026-05-02T08:00Z', {
      tools: [ARMS],
      split_test_tools: [{ slug: 'arms', readable: true }],
      split_tests: [
        siteSplitTest('arms', '1', {
          pages: [
            { url: 'https://deck.example/', match: 'prefix' },
            { url: 'https://deck.example/1', match: 'exact' },
            { url: 'https://deck.example/sale', match: 'prefix' },
          ],
        }),
      ],
    }),
    siteScan('alpha.com', '2026-05-02T08:00Z', {
      tools: [siteTool('pixel'), DARK, ARMS],
      split_test_tools: [
        { slug: 'arms', readable: true },
        { slug: 'dark', readable: false },
      ],
      split_tests: [
        siteSplitTest('arms', '1', {
          type: 'price',
          name: 'Boot at $129',
          arms: [
            { name: '$119', allocation: 0.5 },
            { name: 'Control', allocation: 0.5 },
          ],
          // Three active ads of the brand lead to paths below the second page, one of them to the first page.
          pages: [
            { url: 'https://shop.example.com/sale?price=119', match: 'exact' },
            { url: 'https://www.shop.example.com/', match: 'prefix' },
            { url: 'https://shop.example.com/sa', match: 'prefix' },
            { url: 'https://alpha.com/nowhere', match: 'exact' },
          ],
        }),
        siteSplitTest('arms', '2', { state: 'paused', state_basis: 'dates' }),
      ],
    }),
    siteScan('beta.com', '2026-05-02T08:00Z', {
      tools: [DARK],
      split_test_tools: [{ slug: 'dark', readable: false }],
    }),
    siteScan('delta.com', '2026-05-02T08:00Z', {
      tools: [ARMS],
      split_test_tools: [{ slug: 'arms', readable: true }],
      split_tests: [siteSplitTest('arms', '1', { type: 'price' })],
    }),
  ),
]);

describe('getBrandSplitTests 200', () => {
  test('lists testing tools, read or not, and no other tools', async () => {
    const { found, meta } = await splitTestsOf('alpha');
    expect(found['tools']).toMatchObject([
      { slug: 'arms', read: true, read_at: '2026-05-02T08:00:00.000Z', tests: 2 },
      { slug: 'dark', read: false, read_at: null, tests: null },
    ]);
    expect(found['scanned_at']).toBe(meta.as_of);
  });

  test('lists every test with arms, state and basis, running tests first', async () => {
    const { found } = await splitTestsOf('alpha');
    expect(found['tests']).toMatchObject([
      { type: 'price', state: 'running', state_basis: 'configuration', tool: { slug: 'arms' } },
      { type: 'content', state: 'paused', state_basis: 'dates', arms: null, pages: null },
    ]);
  });

  test('returns the tested pages with the active ads that lead there', async () => {
    const { found } = await splitTestsOf('alpha');
    const [priceTest] = found['tests'] as { pages: object[] }[];
    expect(priceTest?.pages).toEqual([
      { url: 'https://shop.example.com/sale', match: 'exact', active_ads: 1 },
      { url: 'https://www.shop.example.com/', match: 'prefix', active_ads: 3 },
      { url: 'https://shop.example.com/sa', match: 'prefix', active_ads: 0 },
      { url: 'https://alpha.com/nowhere', match: 'exact', active_ads: 0 },
    ]);
  });

  test('counts an ad once when its cards lead to several tested pages', async () => {
    const { found } = await splitTestsOf('deck');
    const [first] = found['tests'] as { pages: { active_ads: number }[] }[];
    expect(first?.pages.map(({ active_ads }) => active_ads)).toEqual([3, 3, 0]);
    const { data } = await on(app).get(`/v1/pages?brand_id=${brandIdOf('deck.example')}&sort=popular`, {
      key,
    });
    expect((data as { active_ads: number }[]).map(({ active_ads }) => active_ads)).toEqual([3, 2, 1]);
  });

  test('contains neither prices nor which arm performed better', async () => {
    // Without `meta`, whose request id is random and may contain any digits.
    const data = JSON.stringify((await splitTestsOf('alpha')).found);
    expect(data).not.toMatch(/119|129|\$/);
    expect(data).not.toMatch(/winner|uplift|conversion|result/i);
  });

  test('returns what the tests in the category of the brand vary', async () => {
    const { found, body } = await splitTestsOf('beta');
    expect(body).toContain(`"category":${JSON.stringify(APPAREL)}`);
    expect(found['category_profile']).toEqual({
      category: APPAREL,
      brands_read: 2,
      types: [
        { type: 'price', brands: 2, tests: 2, running_tests: 2 },
        { type: 'content', brands: 1, tests: 1, running_tests: 0 },
      ],
    });
  });

  test('returns null tests when no tool was read and when the site was never scanned', async () => {
    const { found: unread } = await splitTestsOf('beta');
    expect(unread).toMatchObject({ status: 'collected', tools: [{ slug: 'dark' }], tests: null });
    const { found: never } = await splitTestsOf('gamma');
    expect(never).toMatchObject({ status: 'not_collected', scanned_at: null, tools: null, tests: null });
  });
});
