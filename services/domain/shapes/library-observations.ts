import { createHash } from 'node:crypto';
import {
  type AdLibraryScanChunk,
  type AdLibraryScanEnd,
  CHUNK_ADS_MAX,
  type ObservedAd,
} from '#contracts/observations/ad-library-scan.ts';
import { scanIdOf } from '../ids.ts';
import { observationParts } from './observation-parts.ts';

export type LibraryScanScope = Pick<AdLibraryScanEnd, 'brand_domain' | 'scanned_at' | 'coverage'>;

const byAdId = (a: ObservedAd, b: ObservedAd): number => (a.ad_id < b.ad_id ? -1 : a.ad_id > b.ad_id ? 1 : 0);

/** Ads are sorted and the scan id depends on all, so the same ads and time give the same observations. */
export const libraryObservations = (
  ads: readonly ObservedAd[],
  { brand_domain, scanned_at, coverage }: LibraryScanScope,
): readonly (AdLibraryScanChunk | AdLibraryScanEnd)[] => {
  const sorted = ads.toSorted(byAdId);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([coverage, sorted]))
    .digest('hex');
  const key = { scan_id: scanIdOf(brand_domain, scanned_at, fingerprint), brand_domain, scanned_at };
  const chunks = observationParts(sorted, CHUNK_ADS_MAX).map((part, chunk) => ({
    type: 'ad_library.scan' as const,
    ...key,
    chunk,
    ads: part,
  }));
  return [...chunks, { type: 'ad_library.scan_end' as const, ...key, chunks: chunks.length, coverage }];
};
