import { chunk } from 'es-toolkit/array/chunk';
import type {
  ObservedAd,
  AdLibraryScanChunk,
  AdLibraryScanEnd,
} from '#contracts/observations/ad-library-scan.ts';
import { CHUNK_ADS_MAX } from '#contracts/observations/ad-library-scan.ts';
import { scanIdOf } from '#domain/ids.ts';

export const DOMAIN = 'shop.example';
export const PAGES = 4;
const FIRST_SCAN_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const BODY =
  'Warm boots for cold days: waterproof, light and made to last. "Best I ever had" \u2013 try them for 30 days.\n'.repeat(
    3,
  );

export interface Scan {
  readonly chunks: readonly AdLibraryScanChunk[];
  readonly end: AdLibraryScanEnd;
}

/** Each brand has ids of its own, because scans of the same pages wait for each other. */
export interface ScannedBrand {
  readonly domain: string;
  readonly firstAdId: number;
  readonly firstPageId: number;
}

const ONE_BRAND: ScannedBrand = { domain: DOMAIN, firstAdId: 900_000_000_000_000, firstPageId: 100_000_000 };

/** A share `change` of the ads changes: half gets new copy, a quarter is removed, as many are added. */
export function scanOfDay(day: number, ads: number, change: number, scanned = ONE_BRAND): Scan {
  const { domain } = scanned;
  const changed = Math.round(ads * change);
  const replacedADay = Math.round(changed / 4);
  const scannedAt = new Date(FIRST_SCAN_MS + day * DAY_MS).toISOString();
  const first = day * replacedADay;
  const shown = Array.from({ length: ads }, (_, index) =>
    adOf(scanned, first + index, day, ads, changed / 2),
  );
  const key = {
    scan_id: scanIdOf(domain, scannedAt, 'bench'),
    brand_domain: domain,
    scanned_at: scannedAt,
  };
  const chunks = chunk(shown, CHUNK_ADS_MAX).map((adsOfChunk, index) => ({
    type: 'ad_library.scan' as const,
    ...key,
    chunk: index,
    ads: adsOfChunk,
  }));
  return {
    chunks,
    end: {
      type: 'ad_library.scan_end',
      ...key,
      chunks: chunks.length,
      coverage: {
        pages: Array.from({ length: PAGES }, (_, page) => ({
          page_id: String(scanned.firstPageId + page),
          page_name: 'A page',
        })),
        countries: ['US'],
        complete: true,
        collector: 'bench',
      },
    },
  };
}

/** The copy dates from the last day on which the ad changed. */
function adOf(
  { domain, firstAdId, firstPageId }: ScannedBrand,
  number: number,
  day: number,
  ads: number,
  changedADay: number,
): ObservedAd {
  const everyDays = Math.round(ads / changedADay);
  const edition = Math.floor((day + (number % everyDays)) / everyDays);
  const link = `https://www.${domain}/collections/winter-boots-${number}?utm_source=ads`;
  return {
    ad_id: String(firstAdId + number),
    page_id: String(firstPageId + (number % PAGES)),
    page_name: 'A page',
    is_active: true,
    started_on: '2025-12-01',
    stopped_on: null,
    body: `${BODY}Edition ${edition} of ${number}.`,
    title: 'Boots for winter',
    link_description: 'Free shipping from 50 dollars',
    caption: domain,
    cta_type: 'SHOP_NOW',
    cta_text: 'Shop now',
    link_url: link,
    format: 'video',
    platforms: ['facebook', 'instagram'],
    languages: ['en'],
    media: [{ kind: 'video', url: `${link}&film=1`, poster_url: `${link}&poster=1` }],
    cards: [],
    versions: [],
  };
}
