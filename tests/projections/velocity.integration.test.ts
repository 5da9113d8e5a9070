import { describe, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { velocity } from '#projections/velocity/project.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { given } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';

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
});
