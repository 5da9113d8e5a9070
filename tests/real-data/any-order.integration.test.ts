import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { readSettings } from '#platform/settings.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { ingestFiles } from '#services/ingest/files/ingest-files.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';
import { observedState } from '../stack/observed-state.ts';
import { untilPassed } from '../stack/read-models.ts';
import { shuffled } from '../stack/shuffled.ts';
import { brokenInvariants, rebuildAll } from '../stack/verify-read-models.ts';
import {
  absent,
  BRANDS,
  type Counts,
  countFromFiles,
  folder,
  loadPageScanMapping,
  OTHER_EXPORTS,
} from './page-scans.ts';

/**
 * Rule 11: random orders must lead to the same state and replies, and a rebuild to the same tables. ANY_ORDER_RUNS=10
 * ANY_ORDER_LINES=15000 ANY_ORDER_SCANS=1 is the long form.
 */
const { ANY_ORDER_RUNS, ANY_ORDER_LINES, ANY_ORDER_SCANS, ANY_ORDER_SEED } = readSettings(
  z.object({
    ANY_ORDER_RUNS: z.coerce.number().int().default(1),
    /** Lines of the ranks, and of the taxonomy. */
    ANY_ORDER_LINES: z.coerce.number().int().default(200),
    /** Least number of scans of a group whose scans are imported. */
    ANY_ORDER_SCANS: z.coerce.number().int().default(2),
    ANY_ORDER_SEED: z.coerce.number().int().default(1),
  }),
);
const LIMIT_MS = 900_000;
const CHECKED_AT = '2026-06-15T00:00:00.000Z';

type Import = { readonly path: string; readonly options: ReadOptions };

const allImports = async (scratch: string): Promise<Import[]> => {
  const mapping = await loadPageScanMapping();
  const groupOf = (file: string): string => file.replace(/-\d{4}-\d\d-\d\d-.*/, '');
  const pageScans = [...Map.groupBy(globSync('supernova/*.csv.gz', { cwd: folder }).toSorted(), groupOf)]
    .map(([, files]) => files)
    .filter(({ length }) => length >= ANY_ORDER_SCANS)
    .flat();
  const firstLines = (file: string): string => {
    const path = join(scratch, basename(file, '.gz'));
    const lines = gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .split('\n');
    writeFileSync(path, lines.slice(0, ANY_ORDER_LINES + 1).join('\n'));
    return path;
  };
  const shop = (file: string, brand: string, scannedAt: string): Import => ({
    path: join(folder, 'shopify', file),
    options: { brand, scannedAt, complete: true },
  });
  const curtains = 'spacire-blackout-curtains-20250916T';
  return [
    ...pageScans.map((file) => ({ path: join(folder, file), options: { mapping } })),
    ...OTHER_EXPORTS.map(({ file, ...options }) => ({ path: join(folder, file), options })),
    shop('kiidskingdom-products-page1.json.gz', 'kiidskingdom.com', '2026-03-14T00:00:00.000Z'),
    shop(`${curtains}1403Z.json.gz`, 'spacire.com', '2025-09-16T14:03:00.000Z'),
    shop(`${curtains}1423Z.json.gz`, 'spacire.com', '2025-09-16T14:23:00.000Z'),
    ...['rank/majestic_million-top15000.csv.gz', 'taxonomy/google-taxonomy-with-ids.en-US.txt.gz'].map(
      (file) => ({
        path: firstLines(file),
        options: { scannedAt: CHECKED_AT },
      }),
    ),
  ];
};

const totalsOf = async (
  read: (stream: string) => AsyncIterable<AdLibraryEvent>,
  domain: string,
): Promise<Map<string, Counts>> => {
  const totals = new Map<string, Counts>();
  for await (const { type, data } of read(adLibraryStream(brandIdOf(domain)))) {
    if (type !== 'ScanRecorded' && type !== 'ScanCorrected') continue;
    const { baseline, news, late, stopped, returned, active, missing } = data.totals;
    totals.set(data.observed_at, { baseline, news, late, stopped, returned, active, missing });
  }
  return totals;
};

describe.skipIf(absent)('real exports imported in a random order', () => {
  const stateOfFirstRun: { value?: unknown } = {};

  it.each(Array.from({ length: ANY_ORDER_RUNS }, (_, run) => ANY_ORDER_SEED + run))(
    'lead to the state of the order of observation (seed %i)',
    async (seed) => {
      await using stack = await openApiStack();
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      const scratch = mkdtempSync(join(tmpdir(), 'any-order-'));
      const nothing = (): void => {};
      const report = { progress: nothing, refused: nothing, finished: nothing };
      try {
        for (const { path, options } of shuffled(await allImports(scratch), seed)) {
          const [totals] = await ingestFiles(
            [path],
            { ...options, refusedDirectory: scratch },
            intake,
            report,
          );
          expect([path, totals?.format]).not.toEqual([path, null]);
          expect([path, totals?.records]).not.toEqual([path, 0]);
        }
        for (const { group, domain } of BRANDS) {
          const totals = await totalsOf((stream) => stack.eventStore.read<AdLibraryEvent>(stream), domain);
          expect([group, totals]).toEqual([group, countFromFiles(group)]);
        }
        await untilPassed(stack.pool, await stack.eventStore.head());
        expect(await brokenInvariants(stack.pool)).toEqual([]);
        const state = await observedState(stack.pool);
        stateOfFirstRun.value ??= state;
        expect(state).toEqual(stateOfFirstRun.value);
        await stack.stopProjector();
        const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore);
        expect(rebuilt).toEqual(live);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    },
    LIMIT_MS,
  );
});
