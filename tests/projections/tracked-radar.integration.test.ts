import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  type TrackedRadarFilter,
  type TrackedWindow,
  listTrackedRadar,
  listTrackedSignals,
} from '#projections/queries/tracked.ts';
import { freshness } from '#projections/freshness/project.ts';
import { radar } from '#projections/radar/project.ts';
import { signals } from '#projections/signals/project.ts';
import { tracking } from '#projections/tracking/project.ts';
import { type FilledTables, openFilledTables } from '../dsl/seeded-tables.ts';

/** More items than the scan of the newest rows reads. The oldest items belong to brands of their own. */
const ITEMS = 12_000;
const BRANDS = 3_000;
const OLD_ITEMS = 1_000;
const QUIET_BRANDS = 400;

const idOf = (kind: number, n: number): string =>
  `00000000-0000-4000-800${kind}-${n.toString(16).padStart(12, '0')}`;
const brandOf = (n: number): number => (n < OLD_ITEMS ? BRANDS + (n % QUIET_BRANDS) : n % BRANDS);
const typeOf = (n: number): string =>
  n % 800 === 7 ? 'destination_changed' : n % 3 === 0 ? 'ad_stopped' : 'ad_started';
const START_MS = Date.UTC(2026, 0, 1);
const timeOf = (n: number): string => new Date(START_MS + Math.floor(n / 3) * 1_000).toISOString();

/** Workspaces by their tracked brands: few, many with frequent changes, many that were quiet for long. */
const TRACKED = {
  few: (brand: number) => brand < 5,
  many: (brand: number) => brand % 4 === 1 && brand < BRANDS,
  quiet: (brand: number) => brand >= BRANDS,
  none: () => false,
} as const;
type Workspace = keyof typeof TRACKED;

/** The last scan of every brand, on the day of the newest items. */
const SCANNED_AT = '2026-01-01T23:00:00.000Z';

let tables: FilledTables;
let db: ReadDatabase;

beforeAll(async () => {
  tables = await openFilledTables([freshness, radar, signals, tracking], async (pool) => {
    const numbers = Array.from({ length: ITEMS }, (_, n) => n);
    const items = [
      numbers.map((n) => idOf(1, n)),
      numbers.map((n) => idOf(0, brandOf(n))),
      numbers.map(timeOf),
    ];
    await pool.query(
      `insert into radar.item (id, brand_id, observed_at, type, occurrence, ad)
     select id, brand_id, at, type, '"n":' || n, '{}'
     from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::int[]) as i(id, brand_id, at, type, n)`,
      [...items, numbers.map(typeOf), numbers],
    );
    await pool.query(
      `insert into signals.signal (id, brand_id, observed_at, kind, date, figures, about)
     select id, brand_id, at, case type when 'ad_started' then 'ads_started' when 'ad_stopped' then 'ads_stopped' else 'ramp' end,
       date '2026-01-01' + n, '{"items":1,"before":1,"after":1}', '[]'
     from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::int[]) as i(id, brand_id, at, type, n)`,
      [...items, numbers.map(typeOf), numbers],
    );
    const brands = Array.from({ length: BRANDS + QUIET_BRANDS }, (_, brand) => brand);
    for (const table of ['radar.brand', 'signals.brand']) {
      await pool.query(
        `insert into ${table} (brand_id, slug, name) select id, 'b', 'B' from unnest($1::uuid[]) id`,
        [brands.map((brand) => idOf(0, brand))],
      );
    }
    for (const table of ['radar.applied_scan', 'signals.applied_scan']) {
      await pool.query(
        `insert into ${table} (brand_id, scanned_at) select id, '${SCANNED_AT}' from unnest($1::uuid[]) id`,
        [brands.map((brand) => idOf(0, brand))],
      );
    }
    for (const [workspace, tracks] of Object.entries(TRACKED)) {
      const ids = [brands.filter(tracks).map((brand) => idOf(0, brand))];
      await pool.query(
        `insert into tracking.tracked_brand (workspace_id, brand_id) select '${workspace}', unnest($1::uuid[])`,
        ids,
      );
      await pool.query(
        `insert into freshness.tracker (workspace_id, brand_id, cadence, scanned_at)
       select '${workspace}', unnest($1::uuid[]), 'weekly', '${SCANNED_AT}'`,
        ids,
      );
    }
  });
  ({ db } = tables);
});
afterAll(() => tables[Symbol.asyncDispose]());

const SINCE_EVER: TrackedWindow = { since: '2025-01-01T00:00:00.000Z' };
const of = (workspaceId: Workspace, filter: Partial<TrackedRadarFilter> = {}): TrackedRadarFilter => ({
  workspaceId,
  window: SINCE_EVER,
  ...filter,
});
type Key = readonly (string | number)[] | null;

const everyPage = async <T>(
  read: (after: Key) => Promise<{ readonly items: readonly string[]; readonly next: Key }>,
  shown: (item: string) => T,
): Promise<readonly T[]> => {
  const all: T[] = [];
  for (let after: Key = null, more = true; more; ) {
    const { items, next } = await read(after);
    all.push(...items.map((item) => shown(item.replaceAll('\u0001', ''))));
    after = next;
    more = next !== null;
  }
  return all;
};

const tracked = (workspace: Workspace, fits: (n: number) => boolean = () => true): readonly number[] =>
  Array.from({ length: ITEMS }, (_, n) => ITEMS - 1 - n).filter(
    (n) => TRACKED[workspace](brandOf(n)) && fits(n),
  );

const isRare = (n: number): boolean => typeOf(n) === 'destination_changed';
const middle = timeOf(ITEMS / 2);

describe('the radar of tracked brands equals a plain query over all pages', () => {
  test.each<[string, TrackedRadarFilter, number, readonly number[]]>([
    ['few brands', of('few'), 7, tracked('few')],
    ['many brands', of('many'), 900, tracked('many')],
    ['many brands without recent items', of('quiet'), 300, tracked('quiet')],
    ['no brands', of('none'), 20, []],
    [
      'a rare type and many brands',
      of('many', { types: ['destination_changed'] }),
      2,
      tracked('many', isRare),
    ],
    ['a rare type and few brands', of('few', { types: ['destination_changed'] }), 2, tracked('few', isRare)],
    [
      'items since a time',
      of('many', { window: { since: middle } }),
      900,
      tracked('many', (n) => timeOf(n) >= middle),
    ],
    [
      'items before a time',
      of('many', { window: { ...SINCE_EVER, until: middle } }),
      900,
      tracked('many', (n) => timeOf(n) < middle),
    ],
    ['the last day of few brands', of('few', { window: { days: 1 } }), 7, tracked('few')],
    ['the last day of many brands', of('many', { window: { days: 1 } }), 900, tracked('many')],
    [
      'the last day of brands without recent items',
      of('quiet', { window: { days: 1 } }),
      300,
      tracked('quiet'),
    ],
    ['one tracked brand', of('many', { brandId: idOf(0, 1) }), 3, tracked('many', (n) => brandOf(n) === 1)],
    ['a brand that is not tracked', of('many', { brandId: idOf(0, 0) }), 3, []],
  ])('for %s', async (_case, filter, limit, expected) => {
    const shown = everyPage(
      async (after) => {
        const { page, asOf } = await listTrackedRadar(db, filter, { limit, after });
        // The newest scan of the corpus counts where no brand is tracked.
        expect(asOf).toBe(SCANNED_AT);
        return page;
      },
      (item) => (JSON.parse(item) as { n: number }).n,
    );
    expect(await shown).toEqual(expected);
  });
});

describe('the signals of tracked brands equal a plain query over all pages', () => {
  test.each<[string, Workspace, readonly ['ramp'] | undefined, number, readonly number[]]>([
    ['few brands', 'few', undefined, 7, tracked('few')],
    ['many brands', 'many', undefined, 900, tracked('many')],
    ['many brands without recent items', 'quiet', undefined, 300, tracked('quiet')],
    ['a rare kind and many brands', 'many', ['ramp'], 2, tracked('many', isRare)],
  ])('for %s', async (_case, workspaceId, kinds, limit, expected) => {
    const filter = { workspaceId, window: SINCE_EVER, ...(kinds ? { kinds } : {}) };
    const shown = everyPage(
      async (after) => (await listTrackedSignals(db, filter, { limit, after })).page,
      (item) => (JSON.parse(item) as { id: string }).id,
    );
    expect(await shown).toEqual(expected.map((n) => idOf(1, n)));
  });
});
