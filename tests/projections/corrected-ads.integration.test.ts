import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ads } from '#projections/ads/project.ts';
import { findAd, listBrandAds } from '#projections/ads/read.ts';
import { creatives } from '#projections/creatives/project.ts';
import { searchRecords } from '#projections/creatives/read-records.ts';
import { pages } from '#projections/pages/project.ts';
import { listPages } from '#projections/pages/read.ts';
import { partnerships } from '#projections/partnerships/project.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { listSocialPages } from '#projections/social-pages/read.ts';
import { given } from '../dsl/projections.ts';
import { correctedAds, scanOf } from './fixtures/corrected-ads.ts';
import { at, idOf, link, orders, parsed } from './fixtures/network-events.ts';

const AD = '9000000001';
const OTHER = '9000000002';
const PAGE = '200000001';
const ON_PAGE = { page_id: PAGE, page_name: 'A page' } as const;
const FIRST = { limit: 100, after: null } as const;
const story = () => correctedAds(['a', 'b']);

const readAd = async (db: ReadDatabase) =>
  JSON.parse(((await findAd(db, AD))?.json ?? '{}').replaceAll('\u0001', ''));

const occurrence = (kind: 'started' | 'stopped' | 'destination_changed', day: number) => ({
  kind,
  scan_id: scanOf('a', day),
  observed_at: at(day),
});

describe('an ad that a late scan corrects', () => {
  it('has the corrected state, and a history entry with the changes', async () => {
    const { events } = story()
      .start('a', AD, 6, { started_on: '2026-01-05' })
      .stop(AD, 9)
      .correct(AD, 4, {
        first_seen_at: at(4),
        status: 'active',
        inactive_since: null,
        basis: null,
        seen_at: at(12),
      });
    const read = async (db: ReadDatabase) => {
      const { status, first_seen_at, last_seen_at, history } = await readAd(db);
      return [status, first_seen_at, last_seen_at, history[0]];
    };
    const changes = {
      status: { from: 'inactive', to: 'active' },
      first_seen_at: { from: at(6), to: at(4) },
      last_seen_at: { from: at(6), to: at(12) },
      inactive_since: { from: at(9), to: null },
      basis: { from: 'library', to: null },
    };
    const entry = { at: at(4), change: 'corrected', detail: { changes, withdrawn: [], added: [] } };
    await given(events)
      .into(ads)
      .shows(read, ['active', at(4), at(12), entry]);
  });

  it('is inserted if the late scan is the first that shows it', async () => {
    const { events } = story().correct(AD, 4, { status: 'inactive' }, { brand: 'b' });
    await given(events)
      .into(ads)
      .shows(
        async (db) =>
          parsed((await listBrandAds(db, idOf('b'), FIRST)).items).map(({ id, status, first_seen_at }) => [
            id,
            status,
            first_seen_at,
          ]),
        [[AD, 'inactive', at(4)]],
      );
  });

  it('is as of the last scan of its brand, whether it was corrected or decided in order', async () => {
    const stopped = {
      status: 'inactive',
      inactive_since: at(6),
      basis: 'library',
      seen_at: at(4),
    } as const;
    const inOrder = story().start('a', AD, 4).scan('a', 4).stop(AD, 6).scan('a', 6).scan('a', 8);
    const late = story()
      .start('a', AD, 8)
      .scan('a', 8)
      .correct(AD, 4, { first_seen_at: at(4), ...stopped });
    const moved = story().scan('b', 2).start('a', AD, 4).scan('a', 4).move(AD, 5, 'b');
    const read = async (db: ReadDatabase) => (await findAd(db, AD))?.as_of;
    await given(inOrder.events).into(ads).shows(read, at(8));
    await given(late.scan('a', 4, {}, true).events)
      .into(ads)
      .shows(read, at(8));
    await given(moved.events).into(ads).shows(read, at(4));
  });

  it('dates its landing page by the scan that showed the link', async () => {
    const [early, late] = ['https://a.example/early', 'https://a.example/late'];
    const { events } = story()
      .start('a', AD, 6, {}, { link_url: late })
      .correct(
        AD,
        4,
        { first_seen_at: at(4) },
        { added: [{ ...occurrence('destination_changed', 6), from_url: early, to_url: late }] },
      );
    await given(events)
      .into(pages)
      .shows(
        async (db) =>
          parsed((await listPages(db, { brandId: idOf('a'), sort: 'newest' }, FIRST)).items).map(
            ({ page_url, active_ads, total_ads, first_seen_at }) => [
              page_url,
              active_ads,
              total_ads,
              first_seen_at,
            ],
          ),
        [
          [late, 1, 1, at(6)],
          [early, 0, 1, at(4)],
        ],
      );
  });

  it('dates its landing pages by the first looks that showed the links', async () => {
    const [now, then] = ['https://a.example/now', 'https://a.example/then'];
    const look = (day: number, link_url: string) => ({
      scan_id: scanOf('a', day),
      observed_at: at(day),
      kind: 'running' as const,
      shown: { link_url },
    });
    const { events } = story()
      .start('a', AD, 6, {}, { link_url: now })
      .correct(AD, 4, { first_seen_at: at(3), looks: [look(3, now), look(4, then), look(6, now)] });
    await given(events)
      .into(pages)
      .shows(
        async (db) =>
          parsed((await listPages(db, { brandId: idOf('a'), sort: 'newest' }, FIRST)).items).map(
            ({ page_url, total_ads, first_seen_at }) => [page_url, total_ads, first_seen_at],
          ),
        [
          [then, 1, at(4)],
          [now, 1, at(3)],
        ],
      );
  });
});

describe('an ad that moves to another brand', () => {
  const moved = (): ReturnType<typeof story> =>
    story()
      .file('a', 2, [AD])
      .start('a', AD, 4, ON_PAGE, { link_url: 'https://b.example/one' })
      .start('a', OTHER, 4, ON_PAGE, { link_url: 'https://a.example/one' })
      .namePartner(AD, 5, { page_id: '300000001', page_name: 'Maya' })
      .move(AD, 6, 'b')
      .stop(AD, 8);

  const ofBoth =
    <T>(read: (db: ReadDatabase, brand: string) => Promise<T>) =>
    async (db: ReadDatabase) => [await read(db, idOf('a')), await read(db, idOf('b'))];

  it('is listed for the new brand only, and its history names both', async () => {
    const read = ofBoth(async (db, brand) =>
      parsed((await listBrandAds(db, brand, FIRST)).items).map(({ id, status }) => [id, status]),
    );
    // The log has the event first in the stream of the earlier brand.
    for (const order of orders(moved().events).slice(0, 2)) {
      await given(order)
        .into(ads)
        .shows(read, [[[OTHER, 'active']], [[AD, 'inactive']]]);
    }
    const historyOf = async (db: ReadDatabase) => (await readAd(db)).history[1];
    const detail = { from_brand_id: idOf('a'), to_brand_id: idOf('b') };
    await given(moved().events)
      .into(ads)
      .shows(historyOf, { at: at(6), change: 'attributed', detail });
  });

  it('counts for the new brand on social pages, landing pages and files', async () => {
    const { events } = moved();
    const linked = [...events, link('a', PAGE), link('b', PAGE)];
    await given(linked)
      .into(socialPages)
      .shows(
        ofBoth(async (db, brand) =>
          parsed((await listSocialPages(db, brand)).items).map(({ active_ads, total_ads }) => [
            active_ads,
            total_ads,
          ]),
        ),
        [[[1, 1]], [[0, 1]]],
      );
    await given(events)
      .into(pages)
      .shows(
        ofBoth(async (db, brandId) =>
          parsed((await listPages(db, { brandId, sort: 'newest' }, FIRST)).items).map(
            ({ page_url }) => page_url,
          ),
        ),
        [['https://a.example/one'], ['https://b.example/one']] as never,
      );
    await given(events)
      .into(creatives)
      .shows(
        ofBoth(
          async (db, brandId) =>
            (await searchRecords(db, { brandId, facets: [], ranges: {} }, FIRST)).items.length,
        ),
        [0, 1],
      );
    await given(events)
      .into(partnerships)
      .shows(
        ofBoth(async (db, brand) => (await listPartnerships(db, brand)).items.length),
        [0, 1],
      );
  });

  it('is as before after it moved back within one batch', async () => {
    const { events } = moved().move(AD, 9, 'a').comeBack(AD, 10);
    await given(events)
      .into(ads)
      .shows(
        ofBoth(async (db, brand) => parsed((await listBrandAds(db, brand, FIRST)).items).map(({ id }) => id)),
        [[OTHER, AD], []] as never,
      );
  });
});
