import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { AdLibraryScanEnd, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { Observation } from '#contracts/observations/index.ts';
import type { FileItem } from '#services/ingest/files/file-item.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { readFile } from '#services/ingest/files/read-file.ts';

/** A folder of export files that a test writes; gone with the test. */
export class ExportFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(): Promise<ExportFolder> {
    return new ExportFolder(await mkdtemp(join(tmpdir(), 'exports-')));
  }

  async file(name: string, content: string | Buffer): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, name.endsWith('.gz') && typeof content === 'string' ? gzipSync(content) : content);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}

export type Reading = {
  readonly ads: readonly ObservedAd[];
  readonly ends: readonly AdLibraryScanEnd[];
  readonly observations: readonly Observation[];
  readonly refused: readonly (FileItem & { kind: 'refused' })[];
};

/** What the options of a test say when nothing else matters. */
export const OF_BRAND: ReadOptions = { brand: 'lumen-socks.example', scannedAt: '2026-03-02T08:00:00.000Z' };

/** Reads a file whole; every observation is checked against its contract. */
export const reading = async (path: string, options: ReadOptions = OF_BRAND): Promise<Reading> => {
  const observations: Observation[] = [];
  const refused: (FileItem & { kind: 'refused' })[] = [];
  for await (const item of readFile(path, options)) {
    if (item.kind === 'observation') observations.push(Observation.parse(item.observation));
    if (item.kind === 'refused') refused.push(item);
  }
  return {
    observations,
    refused,
    ads: observations.flatMap((one) => (one.type === 'ad_library.scan' ? one.ads : [])),
    ends: observations.filter((one) => one.type === 'ad_library.scan_end'),
  };
};

/** Ad ids of 16 digits that no two tests need to agree on. */
export const adId = (number: number): string => String(7_100_000_000_000_003n + BigInt(number) * 11n);
