import {
  type AdLibraryScanChunk,
  CHUNK_ADS_MAX,
  type ObservedAd,
  SCAN_CHUNKS_MAX,
} from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import type { ScanKey } from '../readers/scan-key.ts';

type OpenChunk = {
  readonly key: ScanKey;
  readonly scanId: string;
  ads: ObservedAd[];
  bytes: number;
  chunk: number;
};

const OBSERVATION_FRAME_BYTES = 1_000;
/** More scans get smaller chunks, which bounds the open chunks to 16 MB. */
const FULL_SIZE_SCANS_MAX = 16;

/** Open chunks of all scans are in memory. Halves in steps, so that one scan more mostly keeps the same chunks. */
export const chunkBytesMax = (scans: number): number => {
  let bytes = OBSERVATION_MAX_BYTES - OBSERVATION_FRAME_BYTES;
  for (let count = FULL_SIZE_SCANS_MAX; count < scans; count *= 2) bytes = Math.floor(bytes / 2);
  return bytes;
};

export const bytesInChunk = (json: string): number => Buffer.byteLength(json) + 1;

export const fitInOneChunk = (ads: number, bytes: number, bytesMax: number): boolean =>
  ads <= CHUNK_ADS_MAX && bytes <= bytesMax;

/** The chunks of a scan depend on its own ads, their order and `bytesMax`, never on other scans of the file. */
export class ScanChunks {
  readonly #open = new Map<string, OpenChunk>();
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  *add(scanId: string, key: ScanKey, ad: ObservedAd): Generator<AdLibraryScanChunk> {
    const bytes = bytesInChunk(JSON.stringify(ad));
    let open = this.#open.get(key.id);
    if (open === undefined) {
      open = { key, scanId, ads: [], bytes: 0, chunk: 0 };
      this.#open.set(key.id, open);
    }
    if (!fitInOneChunk(open.ads.length + 1, open.bytes + bytes, this.#bytesMax)) yield* this.#close(open);
    open.ads.push(ad);
    open.bytes += bytes;
  }

  *end(): Generator<AdLibraryScanChunk> {
    for (const one of this.#open.values()) yield* this.#close(one);
  }

  chunksOf(key: ScanKey): number {
    return this.#open.get(key.id)?.chunk ?? 0;
  }

  *#close(open: OpenChunk): Generator<AdLibraryScanChunk> {
    if (open.ads.length === 0) return;
    if (open.chunk >= SCAN_CHUNKS_MAX) {
      throw new Error(
        `The scan of ${open.key.brandDomain} has more than ${SCAN_CHUNKS_MAX} chunks. Split the file.`,
      );
    }
    const { key, scanId, ads, chunk } = open;
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
