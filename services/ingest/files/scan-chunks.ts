import {
  type AdLibraryScanChunk,
  CHUNK_ADS_MAX,
  type ObservedAd,
  SCAN_CHUNKS_MAX,
} from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { OBSERVATION_FRAME_BYTES } from './merge-ad-rows.ts';
import type { ScanKey } from '../readers/scan-key.ts';

type OpenChunk = {
  readonly key: ScanKey;
  readonly scanId: string;
  ads: ObservedAd[];
  bytes: number;
  chunk: number;
};

/** Maximum bytes buffered in the open chunks of all scans of a file. */
const WAITING_BYTES_MAX = 4 * OBSERVATION_MAX_BYTES;

/** Packs the ads of a file's scans into `ad_library.scan` observations within the size limits. */
export class ScanChunks {
  readonly #open = new Map<string, OpenChunk>();
  #waitingBytes = 0;

  *add(scanId: string, key: ScanKey, ad: ObservedAd): Generator<AdLibraryScanChunk> {
    const bytes = Buffer.byteLength(JSON.stringify(ad)) + 1;
    let open = this.#open.get(key.id);
    if (open === undefined) {
      open = { key, scanId, ads: [], bytes: 0, chunk: 0 };
      this.#open.set(key.id, open);
    }
    const full = open.bytes + bytes > OBSERVATION_MAX_BYTES - OBSERVATION_FRAME_BYTES;
    if (full || open.ads.length >= CHUNK_ADS_MAX) yield* this.#close(open);
    open.ads.push(ad);
    open.bytes += bytes;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > WAITING_BYTES_MAX)
      for (const one of this.#open.values()) yield* this.#close(one);
  }

  /** Yields the remaining chunks. After that, `chunksOf` is final. */
  *end(): Generator<AdLibraryScanChunk> {
    for (const one of this.#open.values()) yield* this.#close(one);
  }

  /** Returns the number of chunks of the scan so far. */
  chunksOf(key: ScanKey): number {
    return this.#open.get(key.id)?.chunk ?? 0;
  }

  *#close(open: OpenChunk): Generator<AdLibraryScanChunk> {
    if (open.ads.length === 0) return;
    if (open.chunk > SCAN_CHUNKS_MAX)
      throw new Error(`The scan of ${open.key.brandDomain} has too many chunks. Split the file.`);
    const { key, scanId, ads, chunk } = open;
    this.#waitingBytes -= open.bytes;
    open.ads = [];
    open.bytes = 0;
    open.chunk += 1;
    yield {
      type: 'ad_library.scan',
      scan_id: scanId,
      brand_domain: key.brandDomain,
      scanned_at: key.scannedAt,
      chunk,
      ads,
    };
  }
}
