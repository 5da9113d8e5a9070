import {
  type AdConfirmedInactive,
  type AdDestinationChanged,
  adLibraryStream,
  type AdStarted,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { registered } from '#tests/operations/fixtures/corpus.ts';
import { METADATA } from '../runner/bench.ts';

const BRANDS_AT_ONCE = 4;
/** Percentage of stopped and moved ads; the others are started. */
const STOPPED_SHARE = 25;
const MOVED_SHARE = 5;

const BODY =
  'Warm boots for cold days: waterproof, light and made to last. "Best I ever had" \u2013 try them for 30 days.\n'.repeat(
    3,
  );

type Event = AdStarted | AdConfirmedInactive | AdDestinationChanged;

/** Returns the position of the last event. */
export async function appendEvents(
  eventStore: EventStore,
  brands: number,
  eventsEach: number,
  prefix = 'brand',
  /** The kind of an event depends on its index modulo 100. */
  first = 0,
): Promise<bigint> {
  let next = 0;
  let last = 0n;
  const appendBrands = async (): Promise<void> => {
    while (next < brands) {
      const number = next;
      next += 1;
      const registration = registered(`${prefix}${number}.example`, '2026-01-01T00:00:00.000Z');
      const brandId = registration.data.brand_id;
      await eventStore.append(brandStream(brandId), -1n, [registration], METADATA, `register ${brandId}`);
      const events = Array.from({ length: eventsEach }, (_, index) => eventAt(prefix, number, first + index));
      const { position } = await eventStore.append(
        adLibraryStream(brandId),
        -1n,
        events,
        METADATA,
        `scan ${brandId}`,
      );
      if (position > last) last = position;
    }
  };
  await Promise.all(Array.from({ length: BRANDS_AT_ONCE }, appendBrands));
  return last;
}

/** At most 16 digits, as in the library. */
function adIdOf(domain: string, index: number): string {
  return String(Number.parseInt(derivedId('ad', `${domain} ${index}`).replaceAll('-', '').slice(0, 13), 16));
}

function eventAt(prefix: string, brand: number, index: number): Event {
  const domain = `${prefix}${brand}.example`;
  const brand_id = brandIdOf(domain);
  const observed_at = new Date(Date.UTC(2026, 0, 1) + index * 600_000 + brand * 1_000).toISOString();
  const about = {
    brand_id,
    scan_id: derivedId('scan', `${brand_id} ${observed_at}`),
    observed_at,
    ad_id: adIdOf(domain, index),
    format: 'video',
    countries: ['US'],
    started_on: observed_at.slice(0, 10),
  } as const;
  const page = { page_id: String(100_000_000 + brand), page_name: 'A page of boots' };
  const excerpt = { ...page, title: 'Boots for winter', body: excerptOfBody(BODY) };
  const link = (variant: number): string =>
    `https://shop.example.com/collections/winter-boots-${index}?variant=${variant}&utm_source=ads`;
  const kind = index % 100;
  if (kind < STOPPED_SHARE) {
    const stop = {
      basis: 'library',
      stopped_on: observed_at.slice(0, 10),
      last_seen_at: observed_at,
      observed_running: true,
    } as const;
    return { type: 'AdConfirmedInactive', data: { ...about, ...stop, excerpt, news: true } };
  }
  if (kind < STOPPED_SHARE + MOVED_SHARE) {
    return {
      type: 'AdDestinationChanged',
      data: { ...about, excerpt, from_url: link(1), to_url: link(2) },
    };
  }
  return {
    type: 'AdStarted',
    data: {
      ...about,
      ...page,
      novelty: 'news',
      missing_since: null,
      collector: 'bench',
      content: {
        body: BODY,
        title: 'Boots for winter',
        link_description: 'Free shipping from 50 dollars',
        caption: 'shop.example.com',
        cta_type: 'SHOP_NOW',
        cta_text: 'Shop now',
        link_url: link(1),
        format: 'video',
        platforms: ['facebook', 'instagram'],
        languages: ['en'],
        media: [{ kind: 'video', url: link(3), poster_url: link(4) }],
        cards: [],
        versions: [],
      },
    },
  };
}
