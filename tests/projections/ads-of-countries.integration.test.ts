import { it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { registerBrand } from '#domain/corpus/brand.ts';
import { ads } from '#projections/ads/project.ts';
import { findAd } from '#projections/ads/read.ts';
import { given } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';

it('dates an ad by the last scan of its own countries, even if another scan covered its page', async () => {
  const shop = library();
  const events = [
    shop.scan({ at: '2026-05-01T10:00Z', countries: ['DE'] }, [ad(1), ad(2)]),
    shop.scan({ at: '2026-05-02T10:00Z', countries: ['US'] }, [ad(2), ad(3)]),
    shop.scan({ at: '2026-05-03T10:00Z', countries: ['US'] }, [ad(3)]),
  ].flat();
  const registered = registerBrand('shop.example', 'shop', '2026-05-01T00:00:00.000Z')(null);
  const seen = Object.fromEntries([1, 2, 3].map((id) => [ad(id).ad_id, `2026-05-0${id}T10:00:00.000Z`]));
  await given([
    ...registered.map((event) => ({ stream: brandStream(BRAND), event })),
    ...events.map((event) => ({ stream: adLibraryStream(BRAND), event })),
  ])
    .into(ads)
    .shows(async (db) => {
      const found = await Promise.all(Object.keys(seen).map((id) => findAd(db, id)));
      return Object.fromEntries(
        found.map((one, at) => [
          ad(at + 1).ad_id,
          JSON.parse(one?.json.replaceAll('\u0001', '') ?? '{}').last_seen_at,
        ]),
      );
    }, seen);
});
