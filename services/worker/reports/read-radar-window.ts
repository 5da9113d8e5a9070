import { DAY_MS } from '#contracts/values/time.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { RadarItem, RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { listClosedRadar } from '#projections/radar/read.ts';

const PAGE_ITEMS = 1_000;

/** `from` and `to` are UTC dates, both inclusive. */
export type RadarWindow = {
  readonly brand_ids: readonly string[];
  readonly types: readonly RadarItemType[];
  readonly from: string;
  readonly to: string;
};

/** Yields brand by brand, newest first. URLs are paths, because files and events carry no base URL. */
export const readRadarWindow = async function* (
  db: ReadDatabase,
  window: RadarWindow,
): AsyncGenerator<readonly RadarItem[]> {
  const since = `${window.from}T00:00:00.000Z`;
  const until = new Date(Date.parse(window.to) + DAY_MS).toISOString();
  for (const brandId of window.brand_ids) {
    let after: readonly (string | number)[] | null = null;
    do {
      const filter = { brandId, since, until, types: window.types };
      const page = await listClosedRadar(db, filter, { limit: PAGE_ITEMS, after });
      yield page.items.map(
        (item) => JSON.parse(withObservedLinks(item).replaceAll(BASE_URL_MARK, '')) as RadarItem,
      );
      after = page.next;
    } while (after !== null);
  }
};
