import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdLibraryEvent, ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { type FileTotals, ingestFiles } from '#services/ingest/files/ingest-files.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { untilPassed } from '../stack/read-models.ts';
import { brokenInvariants, rebuildAll } from '../stack/verify-read-models.ts';
import { describeNetworks } from './network.ts';
import {
  absent,
  BRANDS,
  type Counts,
  countFromFiles,
  daysOfEndedAds,
  ENDED_ADS,
  folder,
  importFiles,
  loadPageScanMapping,
  OTHER_EXPORTS,
  PAGE_SCAN_OPTIONS,
} from './page-scans.ts';

/** Counts use only ad ids of the files, no readers or rules of this service. Some files go through the command line. */
const RADAR_DAYS = 365;

describe.skipIf(absent)('imported real exports', () => {
  let stack: ApiStack;
  let get: (path: string) => Promise<{ data: never; meta: { cursor?: string; freshness?: unknown } }>;
  const scratch = mkdtempSync(join(tmpdir(), 'real-exports-'));

  const pageScans = globSync('supernova/*.csv.gz', { cwd: folder }).map((file) => join(folder, file));

  const importByCommand = async (): Promise<readonly { code: number; output: string }[]> => {
    const [{ file, brand, scannedAt }] = OTHER_EXPORTS;
    const other = [join(folder, file), '--brand', brand, '--scanned-at', scannedAt];
    return [
      await importFiles([...pageScans, ...PAGE_SCAN_OPTIONS], scratch, stack.environment),
      await importFiles(other, scratch, stack.environment),
    ];
  };

  const importHere = async (
    imports: readonly { readonly files: readonly string[]; readonly options: ReadOptions }[],
  ): Promise<readonly FileTotals[]> => {
    const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
    await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
    const nothing = (): void => {};
    const report = { progress: nothing, refused: nothing, finished: nothing };
    const all: FileTotals[] = [];
    for (const { files, options } of imports) {
      const totals = await ingestFiles(files, { ...options, refusedDirectory: scratch }, intake, report);
      for (const { file, format, records } of totals) {
        expect([file, format]).not.toEqual([file, null]);
        expect([file, records]).not.toEqual([file, 0]);
      }
      all.push(...totals);
    }
    return all;
  };
  const others = OTHER_EXPORTS.map(({ file, ...options }) => ({ files: [join(folder, file)], options }));

  /** All items of a list. `path` ends with `?` or `&`. */
  const listed = async <T>(path: string): Promise<readonly T[]> => {
    const items: T[] = [];
    for (let cursor: string | undefined; ; ) {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = await get(`${path}limit=100${more}`);
      items.push(...(page.data as readonly T[]));
      cursor = page.meta.cursor;
      if (cursor === undefined) return items;
    }
  };

  const projected = async (): Promise<void> => untilPassed(stack.pool, await stack.eventStore.head());

  beforeAll(async () => {
    stack = await openApiStack();
    const outcomes = await importByCommand();
    for (const { output } of outcomes) expect(output).not.toMatch(/ingest stopped/);
    for (const { code, output } of outcomes) expect({ code, output }).toMatchObject({ code: 0 });
    await importHere(others.slice(1));
    const app = await stack.api();
    const key = await stack.key({ plan: 'business' });
    get = async (path) => {
      const reply = await app.inject({
        url: path.replace('{ws}', key.workspaceId),
        headers: { authorization: `Bearer ${key.text}` },
      });
      expect(reply.statusCode, `${path}: ${reply.body.slice(0, 500)}`).toBe(200);
      return reply.json();
    };
    for (const { domain } of BRANDS) {
      const reply = await app.inject({
        method: 'POST',
        url: `/v1/workspaces/${key.workspaceId}/tracked-brands`,
        headers: { authorization: `Bearer ${key.text}` },
        payload: { brand_id: brandIdOf(domain), cadence: 'daily' },
      });
      expect(reply.statusCode).toBe(201);
    }
    await projected();
  });

  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  });

  it.each(BRANDS)(
    '$group: recorded counts equal the counts from the files, scan by scan',
    async ({ group, domain }) => {
      const recorded = new Map<string, Counts>();
      for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain)))) {
        if (event.type !== 'ScanRecorded') continue;
        const { baseline, news, late, stopped, returned, active, missing } = (event as ScanRecorded).data
          .totals;
        recorded.set(event.data.observed_at, { baseline, news, late, stopped, returned, active, missing });
      }
      expect(recorded).toEqual(countFromFiles(group));
    },
  );

  it('has figures that agree in all replies, for every brand', async () => {
    expect(await brokenInvariants(stack.pool)).toEqual([]);
  }, 120_000);

  it.each(BRANDS)('$group: REST replies equal the counts from the files', async ({ group, slug }) => {
    const counts = [...countFromFiles(group)];
    const last = counts.at(-1)?.[1];
    const { data: brand } = (await get(`/v1/brands/${slug}`)) as { data: Record<string, unknown> };
    expect(brand['active_ads']).toBe(last?.active);
    expect(brand['as_of']).toBe(counts.at(-1)?.[0]);

    const days = (await get(`/v1/brands/${slug}/daily-activity`)) as unknown as {
      data: { date: string; active_ads: number; new_ads: number; retired_ads: number; reliable: boolean }[];
    };
    expect(
      days.data.map(({ date, active_ads, new_ads, retired_ads }) => ({
        date,
        active_ads,
        new_ads,
        retired_ads,
      })),
    ).toEqual(
      counts.map(([at, { active, news, stopped }]) => ({
        date: at.slice(0, 10),
        active_ads: active,
        new_ads: news,
        retired_ads: stopped,
      })),
    );

    const weeks = (await get(`/v1/brands/${slug}/velocity?weeks=52`)) as unknown as {
      data: { new_ads: number; retired_ads: number; active_ads: number }[];
    };
    const reliable = new Set(days.data.filter((day) => day.reliable).map(({ date }) => date));
    const sum = (field: 'news' | 'stopped') =>
      counts
        .filter(([at]) => reliable.has(at.slice(0, 10)))
        .reduce((total, [, count]) => total + count[field], 0);
    expect(weeks.data.reduce((total, week) => total + week.new_ads, 0)).toBe(sum('news'));
    expect(weeks.data.reduce((total, week) => total + week.retired_ads, 0)).toBe(sum('stopped'));
    expect(weeks.data.at(-1)?.active_ads).toBe(last?.active);
  });

  it('the radar shows each start and stop once, and few revisions after a change of collector', async () => {
    const items = await listed<{ type: string; brand: { slug: string } }>(
      `/v1/workspaces/{ws}/radar?days=${RADAR_DAYS}&`,
    );
    for (const { group, slug } of BRANDS) {
      const counts = [...countFromFiles(group).values()];
      const shown = (type: string) =>
        items.filter((item) => item.type === type && item.brand.slug === slug).length;
      expect([group, shown('ad_started')]).toEqual([group, counts.reduce((sum, { news }) => sum + news, 0)]);
      expect([group, shown('ad_stopped')]).toEqual([
        group,
        counts.reduce((sum, { stopped }) => sum + stopped, 0),
      ]);
    }
    let revised = 0;
    for (const { domain } of BRANDS) {
      for await (const event of stack.eventStore.read(adLibraryStream(brandIdOf(domain)))) {
        if (event.type === 'AdRevised') revised += 1;
      }
    }
    expect(revised).toBeLessThan(20);
  });

  it('a complete scan made for a brand without linked pages is reliable, whichever pages it covers', async () => {
    const reliable: boolean[] = [];
    for await (const event of stack.eventStore.read<AdLibraryEvent>(
      adLibraryStream(brandIdOf('speakx.ai')),
    )) {
      if (event.type === 'ScanRecorded') reliable.push(event.data.reliable);
    }
    expect(reliable).toEqual([true, true, true, true, true, true]);
  });

  it('freshness equals the time of the last scan of each tracked brand', async () => {
    const { data } = await get('/v1/workspaces/{ws}/tracked-brands/freshness');
    const shown = data as unknown as {
      brand: { slug: string };
      slo_status: string;
      freshness: { as_of: string };
    }[];
    for (const { group, slug } of BRANDS) {
      const item = shown.find(({ brand }) => brand.slug === slug);
      expect(item?.freshness.as_of).toBe([...countFromFiles(group).keys()].at(-1));
      expect(item?.slo_status).toBe('breached');
    }
  });

  it('ages of ads that had ended before they were met are those of the file, also in the average of the brand', async () => {
    const days = daysOfEndedAds();
    const ads = await listed<{ id: string; status: string; days_active: number | null }>(
      `/v1/brands/${ENDED_ADS.slug}/ads?`,
    );
    const shown = ads.filter(({ status }) => status === 'inactive').map((ad) => [ad.id, ad.days_active]);
    expect(shown.length).toBeGreaterThan(0);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(days));
    const mean = [...days.values()].reduce((sum, one) => sum + one, 0) / days.size;
    const { data } = (await get(`/v1/brands/${ENDED_ADS.slug}`)) as { data: Record<string, unknown> };
    expect(data['avg_ad_lifespan_days']).toBe(Math.round(mean * 10) / 10);
  });

  it('no event contains spend or reach', async () => {
    const database = stack.eventStore;
    const forbidden =
      /"(spend|impressions?|reach|reach_estimate|currency|estimated_audience_size|potential_reach|budget|eu_total_reach|demographic_distribution|region_distribution|delivery_by_region)\w*"\s*:/i;
    await using follower = database.follow({
      after: null,
      prefixes: ['brand-', 'adLibrary-', 'socialPage-'],
      bufferItems: 5_000,
    });
    let events = 0;
    for (let caughtUp = false; !caughtUp; ) {
      for (const item of await follower.take(1_000)) {
        if (item.kind === 'caught_up') caughtUp = true;
        if (item.kind !== 'event') continue;
        events += 1;
        expect(JSON.stringify(item.event.data)).not.toMatch(forbidden);
      }
    }
    expect(events).toBeGreaterThan(5_000);
  });

  it('a second import of all files appends no event', async () => {
    const before = await stack.eventStore.head();
    await importHere([{ files: pageScans, options: { mapping: await loadPageScanMapping() } }, ...others]);
    expect(await stack.eventStore.head()).toBe(before);
  });

  describeNetworks(() => ({
    scratch,
    read: async (path) => (await get(path)).data,
    importMore: async (files) => {
      for (const { file, refused } of await importHere([{ files, options: {} }]))
        expect([file, refused]).toEqual([file, 0]);
      await projected();
    },
  }));

  it('figures still agree, and a rebuild of every projection yields the same tables', async () => {
    await projected();
    expect(await brokenInvariants(stack.pool)).toEqual([]);
    await stack.stopProjector();
    const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore);
    expect(rebuilt).toEqual(live);
    expect(live['ads.ad']).toMatch(/^[1-9]\d{3,}:/);
  });
});
