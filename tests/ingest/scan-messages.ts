import { chunk } from 'es-toolkit';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { scanIdOf } from '#domain/ids.ts';
import { PAGE } from '#tests/dsl/scans.ts';

type Options = {
  readonly pages?: readonly string[];
  readonly complete?: boolean;
  readonly chunkSize?: number;
  readonly countries?: readonly string[];
};

/** The chunks of a scan and its end, as a collector sends them. */
export const scanOf = (domain: string, at: string, ads: readonly ObservedAd[], options: Options = {}) => {
  const { pages = [PAGE], complete = true, chunkSize = 100, countries = ['US'] } = options;
  const key = {
    scan_id: scanIdOf(
      domain,
      at,
      JSON.stringify([ads.map(({ ad_id }) => ad_id), pages, complete, countries]),
    ),
    brand_domain: domain,
    scanned_at: at,
  };
  const chunks = chunk(ads, chunkSize).map((some, place) => ({
    type: 'ad_library.scan' as const,
    ...key,
    chunk: place,
    ads: some,
  }));
  const end = {
    type: 'ad_library.scan_end' as const,
    ...key,
    chunks: chunks.length,
    coverage: {
      pages: pages.map((page_id) => ({ page_id, page_name: null })),
      countries: [...countries],
      complete,
      collector: 'test',
    },
  };
  return { chunks, end };
};
