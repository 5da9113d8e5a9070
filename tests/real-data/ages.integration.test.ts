import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inheritedEnvironment, readSettings } from '#platform/settings.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { untilPassed } from '../stack/read-models.ts';
import { brokenInvariants } from '../stack/verify-read-models.ts';

/** Rule 12: ages are those of the file. The day of the import plays no part. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
const FILE = resolve(PROJECT, AD_DATA_DIR, 'epi/citizens-energizing-michigan-2022-11-14.csv.gz');
const absent = !existsSync(FILE);
if (absent)
  console.warn(`tests of ages are skipped: there is no file ${FILE}; name its folder with AD_DATA_DIR`);

const DAY_MS = 24 * 3_600_000;
const SCANNED_AT = '2024-11-14T00:00:00Z';
/** Stop date of running ads. */
const NO_STOP = '999';

type Row = { id: string; ad_delivery_start_time: string; ad_delivery_stop_time: string };
type Ad = { id: string; status: string; days_active: number | null };

const daysInFile = (): ReadonlyMap<string, number> => {
  const rows = parse<Row>(gunzipSync(readFileSync(FILE)), { columns: true });
  return new Map(
    rows
      .filter((row) => row.ad_delivery_stop_time !== NO_STOP)
      .map((row) => [
        row.id,
        (Date.parse(row.ad_delivery_stop_time) - Date.parse(row.ad_delivery_start_time)) / DAY_MS,
      ]),
  );
};

describe.skipIf(absent)('ages of ads that had ended before they were first met', () => {
  let stack: ApiStack;
  let get: (path: string) => Promise<{ data: never; meta: { cursor?: string } }>;
  const scratch = mkdtempSync(join(tmpdir(), 'ages-'));

  beforeAll(async () => {
    stack = await openApiStack();
    const options = [
      '--brand',
      'citizensenergizingmichigan.com',
      '--scanned-at',
      SCANNED_AT,
      '--countries',
      'US',
    ];
    const child = spawn(
      process.execPath,
      ['services/ingest/cli.ts', FILE, ...options, '--refused-dir', scratch],
      { cwd: PROJECT, env: { ...inheritedEnvironment(), ...stack.environment }, stdio: 'ignore' },
    );
    expect((await once(child, 'exit'))[0]).toBe(0);
    await untilPassed(stack.pool, await stack.eventStore.head());
    const app = await stack.api();
    const key = await stack.key({ plan: 'business' });
    get = async (path) => {
      const reply = await app.inject({ url: path, headers: { authorization: `Bearer ${key.text}` } });
      expect(reply.statusCode, `${path}: ${reply.body.slice(0, 500)}`).toBe(200);
      return reply.json();
    };
  });

  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  });

  it('follow the dates in the file, for each ad and in the average of the brand', async () => {
    const days = daysInFile();
    const shown = new Map<string, number | null>();
    for (let cursor: string | undefined; ; ) {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = await get(`/v1/brands/citizensenergizingmichigan/ads?limit=100${more}`);
      for (const { id, status, days_active } of page.data as unknown as Ad[]) {
        if (status === 'inactive') shown.set(id, days_active);
      }
      cursor = page.meta.cursor;
      if (cursor === undefined) break;
    }
    expect(shown.size).toBeGreaterThan(0);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(days));
    const mean = [...days.values()].reduce((sum, one) => sum + one, 0) / days.size;
    const { data } = (await get('/v1/brands/citizensenergizingmichigan')) as {
      data: Record<string, unknown>;
    };
    expect(data['avg_ad_lifespan_days']).toBe(Math.round(mean * 10) / 10);
  });

  it('figures agree in all replies', async () => {
    expect(await brokenInvariants(stack.pool)).toEqual([]);
  });
});
