import { describe, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { velocity } from '#projections/velocity/project.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { given } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';
import { dayOf, histories } from './fixtures/library-histories.ts';

describe('a week', () => {
  it('sums its reliable days only, and shows the latest observed day', async () => {
    const shop = library();
    const [one, two, three] = [
      ad(1, { started_on: '2026-05-04' }),
      ad(2, { started_on: '2026-05-05' }),
      ad(3, { started_on: '2026-05-06' }),
    ];
    const events = [
      shop.scan({ at: '2026-05-04T10:00Z' }, [one]),
      shop.scan({ at: '2026-05-05T10:00Z' }, [one, two]),
      shop.scan({ at: '2026-05-06T10:00Z', complete: false }, [three]),
      shop.scan({ at: '2026-05-12T10:00Z', complete: false }, [three]),
    ].flat();
    await given(events.map((event) => ({ stream: adLibraryStream(BRAND), event })))
      .into(velocity)
      .shows(
        async (db) => (await readVelocity(db, BRAND, 12)).items.map((item) => JSON.parse(item)),
        [
          { week_start: '2026-05-04', active_ads: 3, new_ads: 1, retired_ads: 0, reliable_days: 2 },
          { week_start: '2026-05-11', active_ads: 3, new_ads: 0, retired_ads: 0, reliable_days: 0 },
        ],
      );
  });

  it('has no day for a scan without a look at the brand, until a correction adds the look', async () => {
    const shop = histories();
    shop.brand('shop');
    const scan = { scannedFor: 'other', totals: { active: 2, total: 2, news: 1 } };
    shop.scan('shop', { ...scan, name: 'one', day: 4 });
    shop.scan('shop', { ...scan, name: 'two', day: 5 });
    shop.scan('shop', { ...scan, name: 'three', day: 12 });
    shop.scan('shop', { ...scan, name: 'four', day: 19 });
    for (const name of ['one', 'three', 'four']) shop.correctScan('shop', name, scan.totals, false, true);
    shop.correctScan('shop', 'four', scan.totals);
    const brand = shop.idOf('shop');
    const parsed = ({ items }: { items: readonly string[] }) => items.map((item) => JSON.parse(item));
    await given(shop.events)
      .into(velocity)
      .shows(
        async (db) => parsed(await readVelocity(db, brand, 12)).map(({ reliable_days }) => reliable_days),
        [1, 1],
      );
    await given(shop.events)
      .into(dailyActivity)
      .shows(
        async (db) => parsed(await readDailyActivity(db, brand, {})).map(({ date }) => date),
        [dayOf(5), dayOf(19)],
      );
  });
});
