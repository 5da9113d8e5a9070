import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { memoize } from 'es-toolkit';
import { z } from 'zod';
import { inheritedEnvironment, readSettings } from '#platform/settings.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';

/** Counts use only the ad ids in the files. */

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
export const folder = resolve(PROJECT, AD_DATA_DIR);
export const absent = !existsSync(folder);
if (absent) {
  console.warn(
    `tests of imported real exports are skipped: there is no folder ${folder}; name it with AD_DATA_DIR`,
  );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type Counts = {
  baseline: number;
  news: number;
  late: number;
  stopped: number;
  returned: number;
  active: number;
  missing: number;
};
type Row = { ad_library_id: string; facebook_page_id: string; ad_start_date: string };

export const scansOf = (group: string) =>
  globSync(`supernova/fb-ads-${group}-2*.csv.gz`, { cwd: folder })
    .map((file) => {
      const [, date, hours, minutes] = /-(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)/.exec(file) ?? [];
      return { file: join(folder, file), at: Date.parse(`${date}T${hours}:${minutes}:00+05:30`) };
    })
    .toSorted((a, b) => a.at - b.at);

/** By scan time. */
export const countFromFiles = memoize((group: string): ReadonlyMap<string, Counts> => {
  const ads = new Map<
    string,
    { page: string; state: 'seen' | 'missing' | 'stopped'; missingSince: number }
  >();
  const lastScanOfPage = new Map<string, number>();
  const perScan = new Map<string, Counts>();
  for (const { file, at } of scansOf(group)) {
    const rows = parse(gunzipSync(readFileSync(file)), { columns: true, bom: true }) as Row[];
    const shown = new Map(rows.map((row) => [row.ad_library_id, row]));
    const pages = new Set(rows.map((row) => row.facebook_page_id));
    const counts = { baseline: 0, news: 0, late: 0, stopped: 0, returned: 0, active: 0, missing: 0 };
    for (const [id, row] of shown) {
      const existing = ads.get(id);
      const before = lastScanOfPage.get(row.facebook_page_id);
      if (existing === undefined) {
        const firstNewsDay = before === undefined ? '' : new Date(before - DAY_MS).toISOString().slice(0, 10);
        counts[before === undefined ? 'baseline' : row.ad_start_date >= firstNewsDay ? 'news' : 'late'] += 1;
      } else if (existing.state === 'stopped') counts.returned += 1;
      ads.set(id, { page: existing?.page ?? row.facebook_page_id, state: 'seen', missingSince: 0 });
    }
    for (const [id, ad] of ads) {
      if (shown.has(id) || ad.state === 'stopped' || !pages.has(ad.page)) continue;
      if (ad.state === 'seen') ads.set(id, { ...ad, state: 'missing', missingSince: at });
      else if (at - ad.missingSince >= 20 * HOUR_MS) {
        ads.set(id, { ...ad, state: 'stopped' });
        counts.stopped += 1;
      }
    }
    for (const page of pages) lastScanOfPage.set(page, at);
    const states = [...ads.values()].map(({ state }) => state);
    counts.active = states.filter((state) => state !== 'stopped').length;
    counts.missing = states.filter((state) => state === 'missing').length;
    perScan.set(new Date(at).toISOString(), counts);
  }
  return perScan;
});

export const BRANDS = [
  { group: 'speakx', domain: 'speakx.ai', slug: 'speakx' },
  { group: 'loora', domain: 'loora.ai', slug: 'loora' },
  { group: 'duolingo', domain: 'duolingo.com', slug: 'duolingo' },
  { group: 'zinglish', domain: 'zinglish.app', slug: 'zinglish' },
] as const;

/** Ads with a start and a stop, which had ended two years before they are scanned. */
export const ENDED_ADS = {
  file: 'epi/citizens-energizing-michigan-2022-11-14.csv.gz',
  slug: 'citizensenergizingmichigan',
} as const;
/** Stop date of running ads. */
const NO_STOP = '999';

/** Days of each ad from its start to its stop, by id. */
export const daysOfEndedAds = (): ReadonlyMap<string, number> => {
  const rows = parse<{ id: string; ad_delivery_start_time: string; ad_delivery_stop_time: string }>(
    gunzipSync(readFileSync(join(folder, ENDED_ADS.file))),
    { columns: true },
  );
  return new Map(
    rows
      .filter((row) => row.ad_delivery_stop_time !== NO_STOP)
      .map((row) => [
        row.id,
        (Date.parse(row.ad_delivery_stop_time) - Date.parse(row.ad_delivery_start_time)) / DAY_MS,
      ]),
  );
};

/** Exports that name no brand get an example one. */
type OtherExport = {
  readonly file: string;
  readonly brand: string;
  readonly scannedAt: string;
  readonly countries?: readonly string[];
};
export const OTHER_EXPORTS: readonly [OtherExport, ...OtherExport[]] = [
  {
    file: 'web-html-shoyebop/search_results_connection.json.gz',
    brand: 'perfumes.example',
    scannedAt: '2026-05-18T00:00:00.000Z',
  },
  {
    file: 'web-ducdungtranquang/db.json.gz',
    brand: 'ducdung.example',
    scannedAt: '2026-05-18T00:00:00.000Z',
  },
  { file: 'web-jayqclone/scraped_ads.json.gz', brand: 'dropps.com', scannedAt: '2025-06-11T12:00:00.000Z' },
  {
    file: 'web-fshangala/ads.json.gz',
    brand: 'apple.com',
    scannedAt: '2024-01-15T00:00:00.000Z',
    countries: ['US'],
  },
  {
    file: 'web-fshangala/page_ads.json.gz',
    brand: 'apple.com',
    scannedAt: '2024-01-16T00:00:00.000Z',
    countries: ['US'],
  },
  {
    file: ENDED_ADS.file,
    brand: 'citizensenergizingmichigan.com',
    scannedAt: '2024-11-14T00:00:00.000Z',
    countries: ['US'],
  },
  {
    file: 'minimaxir-aoc/fb_ads.csv.gz',
    brand: 'ocasiocortez.com',
    scannedAt: '2019-11-01T00:00:00.000Z',
    countries: ['US'],
  },
];

export const PAGE_SCAN_OPTIONS: readonly string[] = [
  '--mapping',
  'services/ingest/mappings/competitor-page-scan.json',
  '--brands',
  join(folder, 'supernova/brands.json'),
];
const [, MAPPING = '', , BRANDS_FILE = ''] = PAGE_SCAN_OPTIONS;
export const loadPageScanMapping = () => loadMapping(join(PROJECT, MAPPING), BRANDS_FILE);

/** `scratch`: folder for refused records. */
export const importFiles = async (
  args: readonly string[],
  scratch: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ code: number; output: string }> => {
  const child = spawn(process.execPath, ['services/ingest/cli.ts', ...args, '--refused-dir', scratch], {
    cwd: PROJECT,
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const [code] = (await once(child, 'exit')) as [number];
  return { code, output };
};
