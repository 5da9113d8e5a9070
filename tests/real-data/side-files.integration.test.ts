import { brandProfile } from '#tests/dsl/site-events.ts';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { readSettings } from '#platform/settings.ts';
import { type FileTotals, ingestFiles } from '#services/ingest/files/ingest-files.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { on } from '../dsl/api.ts';
import { reading } from '../ingest/fixtures/export-files.ts';
import { faultsAtEnd } from '../stack/verify-read-models.ts';

/** An independent split of the same bytes gives the expected replies. Files are in `AD_DATA_DIR`. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
const folder = resolve(PROJECT, AD_DATA_DIR);
const TAXONOMY = join(folder, 'taxonomy/google-taxonomy-with-ids.en-US.txt.gz');
const RANKS = join(folder, 'rank/majestic_million-top15000.csv.gz');
const DOMAINS = join(folder, 'rank/opendns-top-domains.txt.gz');
const absent = ![TAXONOMY, RANKS, DOMAINS].every((file) => existsSync(file));
if (absent)
  console.warn(
    `tests of real side files are skipped: there is no folder ${folder}; name it with AD_DATA_DIR`,
  );

const FETCHED_AT = '2026-03-02T08:00:00.000Z';
/** Tests the path through the log as well as 15,000 ranks. */
const RANKS_INGESTED = 300;

const linesOf = (file: string): string[] =>
  gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split(/\r?\n/);

const ranksIn = (): string[][] =>
  linesOf(RANKS)
    .slice(1)
    .map((line) => line.split(','));
/** Some rows have only a top-level domain, such as `.com`. */
const namesHost = ([, , domain = '']: readonly string[]): boolean => !domain.startsWith('.');

const pathsIn = (): string[][] =>
  linesOf(TAXONOMY)
    .slice(1)
    .map((line) => line.slice(line.indexOf(' - ') + 3).split(' > '))
    .filter(({ length }) => length <= 3);

describe.skipIf(absent)('real side files', () => {
  let stack: ApiStack;
  let app: FastifyInstance;
  let key: Key;
  let intake: Intake & AsyncDisposable;
  let temporary: string;

  const ingest = async (file: string): Promise<FileTotals> => {
    const nothing = (): void => {};
    const report = { progress: nothing, refused: nothing, finished: nothing };
    const options = { refusedDirectory: temporary, scannedAt: FETCHED_AT };
    const [totals] = await ingestFiles([file], options, intake, report);
    return totals as FileTotals;
  };
  const read = async (path: string) => {
    const { status, data, meta } = await on(app).get(path, { key });
    expect(status).toBe(200);
    return { data: data as unknown as Record<string, unknown>[], meta };
  };

  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'side-files-'));
    stack = await openApiStack();
    [app, key] = await Promise.all([stack.api(), stack.key()]);
    const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
    intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  });
  afterAll(async () => {
    await intake?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
    rmSync(temporary, { recursive: true, force: true });
  });

  test('the rank lists are read completely, and rows without a host are refused', async () => {
    const ranked = await reading(RANKS, { scannedAt: FETCHED_AT });
    expect(
      ranked.observations.map((one) => one.type === 'traffic.estimate' && [one.global_rank, one.domain]),
    ).toEqual(
      ranksIn()
        .filter(namesHost)
        .map(([rank, , domain]) => [Number(rank), domain]),
    );
    expect(ranked.refused.map(({ raw }) => raw)).toEqual(
      ranksIn()
        .filter((row) => !namesHost(row))
        .map((row) => row.join(',')),
    );
    const listed = await reading(DOMAINS, { scannedAt: FETCHED_AT, format: 'rank-list' });
    expect(listed.observations.map((one) => one.type === 'traffic.estimate' && one.domain)).toEqual(
      linesOf(DOMAINS),
    );
  });

  test('the taxonomy is returned over REST with the same tree', async () => {
    const paths = pathsIn();
    const totals = await ingest(TAXONOMY);
    expect(totals).toMatchObject({ events: paths.length, refused: 0, records: linesOf(TAXONOMY).length - 1 });
    await stack.projected(await stack.eventStore.head());

    const tops = await read('/v1/categories?limit=100');
    expect(tops.data.map(({ name }) => name)).toEqual(
      paths.filter(({ length }) => length === 1).flatMap(([name]) => name),
    );
    for (const { id, name, children } of tops.data) {
      const below = await read(`/v1/categories?limit=100&parent_id=${String(id)}`);
      const names = paths.filter((path) => path.length === 2 && path[0] === name).map((path) => path[1]);
      expect(new Set(below.data.map((one) => one['name']))).toEqual(new Set(names));
      expect(children).toBe(names.length);
    }
  });

  test('ranks are returned over REST for the brands of their domains, with the totals of their category', async () => {
    const some = join(temporary, 'ranks.csv');
    writeFileSync(
      some,
      linesOf(RANKS)
        .slice(0, RANKS_INGESTED + 1)
        .join('\n'),
    );
    const taken = ranksIn().slice(0, RANKS_INGESTED).filter(namesHost).length;
    const [top = '', middle = '', leaf = ''] = pathsIn().find(({ length }) => length === 3) ?? [];
    const ranked = ranksIn().slice(0, 3);
    for (const [, , domain = ''] of ranked) {
      await intake.submit(
        brandProfile({ domain, observed_at: FETCHED_AT, name: domain, category_path: [top, middle, leaf] }),
      );
    }
    expect(await ingest(some)).toMatchObject({
      events: taken,
      refused: RANKS_INGESTED - taken,
    });
    expect(await ingest(some)).toMatchObject({ events: 0 });
    await stack.projected(await stack.eventStore.head());

    for (const [rank, , domain = ''] of ranked) {
      const { data, meta } = await read(`/v1/brands/${brandIdOf(domain)}/trajectory`);
      expect(data).toEqual([
        {
          date: FETCHED_AT.slice(0, 10),
          global_ranking: Number(rank),
          category_ranking: null,
          monthly_visits: null,
        },
      ]);
      expect(meta.as_of).toBe(FETCHED_AT);
    }
    for (const path of [[top], [top, middle], [top, middle, leaf]]) {
      expect((await read(`/v1/categories/${categoryIdOf(path)}`)).data).toMatchObject({
        name: path.at(-1),
        totals: { brands: ranked.length, brands_with_traffic: 0, monthly_visits: null },
      });
    }
  });

  test('figures agree in all replies, and a rebuild of every projection yields the same tables', async () => {
    expect(await faultsAtEnd(stack)).toEqual([]);
  }, 120_000);
});
