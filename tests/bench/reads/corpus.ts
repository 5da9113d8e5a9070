import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startPostgres } from '#deploy/local/postgres/start.ts';
import { SCOPES } from '#contracts/values/access.ts';
import { LIVE_KEY, sha256Of } from '#application/access/key-format.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createIndexes, createTables, readCatalog, schemaOf } from '#application/read-models/schema.ts';
import type { Fill } from './fill.ts';
import { FILLS } from './fills.ts';
import { MEMBER_ID, WORKSPACE_ID } from './fill-workspace.ts';
import { SEEDS } from './seeds.ts';
import { SCALE } from '../runner/bench.ts';
import { type BenchServers, openPlainPool, startServers } from '../runner/servers.ts';

/**
 * A hash of each projection's version, schema, fill and seeds tells which to refill. Delete the folder to rebuild
 * everything, in about five minutes.
 */
const FOLDER = join(tmpdir(), SCALE === 1 ? 'ad-corpus-for-benches' : `ad-corpus-for-benches-${SCALE}`);
/** Settings of filling only: requests are measured with the defaults of a local server. */
const FILLING_SETTINGS = {
  shared_buffers: '1GB',
  work_mem: '256MB',
  maintenance_work_mem: '768MB',
  max_wal_size: '8GB',
  max_parallel_maintenance_workers: '1',
};
/** Below this scale, the measured server is filled: starting another takes longer. */
const OWN_SERVER_MIN_SCALE = 0.01;
const FILLING_CLIENTS = 2;

export type BigCorpus = BenchServers & { readonly pool: Database; readonly key: string };

export async function openBigCorpus(
  resources: AsyncDisposableStack,
  print: (line: string) => void,
): Promise<BigCorpus> {
  await mkdir(FOLDER, { recursive: true });
  await chmod(FOLDER, 0o755);
  if (SCALE >= OWN_SERVER_MIN_SCALE) {
    const filling = await startPostgres({ folder: FOLDER, port: 0, settings: FILLING_SETTINGS });
    try {
      await fillWhatChanged(filling, print);
    } finally {
      await filling.stop();
    }
  }
  const servers = await startServers(resources, FOLDER);
  const pool = openPlainPool(servers.databaseUrl, FILLING_CLIENTS);
  resources.defer(() => pool.end());
  if (SCALE < OWN_SERVER_MIN_SCALE) await fillTables(pool, print);
  return { ...servers, pool, key: await issueKey(pool) };
}

async function fillWhatChanged(postgres: LocalPostgres, print: (line: string) => void): Promise<void> {
  await postgres.createDatabase('read_models');
  const pool = openPlainPool(postgres.databaseUrl('read_models'), FILLING_CLIENTS);
  try {
    await fillTables(pool, print);
  } finally {
    await pool.end();
  }
}

/** Replies of some read models take `as_of` from these. */
const APPLIED_SCANS =
  'insert into applied_scan (brand_id, scanned_at) select brand_id, scanned_at from bench.brand';

async function fillTables(pool: Database, print: (line: string) => void): Promise<void> {
  const startedMs = performance.now();
  await createProjectorTables(pool);
  await createAccessTables(pool);
  await pool.query('create table if not exists public.filled_by (name text primary key, mark text not null)');
  const { rows } = await pool.query<{ name: string; mark: string }>(
    'select name, mark from public.filled_by',
  );
  const marks = new Map(rows.map(({ name, mark }) => [name, mark]));
  const seedMark = hashOf(SEEDS);
  if (marks.get('bench') !== seedMark) {
    for (const sql of SEEDS) await timed(print, sql, () => pool.query(sql));
    await setMark(pool, 'bench', seedMark);
  }
  const pending = projections
    .map((projection) => ({
      projection,
      sql: [
        ...(FILLS.find((fill) => fill.projection === projection)?.sql ?? []),
        ...(readFileSync(projection.schema, 'utf8').includes('create table applied_scan')
          ? [APPLIED_SCANS]
          : []),
      ],
    }))
    .map((fill) => ({ ...fill, mark: hashOf([seedMark, ...describe(fill.projection), ...fill.sql]) }))
    .filter(({ projection, mark }) => marks.get(projection.name) !== mark)
    .toSorted((a, b) => fillIndexOf(a.projection) - fillIndexOf(b.projection));
  if (pending.length === 0) return;
  const workers = Array.from({ length: FILLING_CLIENTS }, async () => {
    for (let fill = pending.shift(); fill !== undefined; fill = pending.shift())
      await fillOne(pool, fill, print);
  });
  await Promise.all(workers);
  await inTransaction(pool, (client) => rewriteNewAdvertisers(client));
  // While other transactions run, vacuum cannot mark pages as all-visible, and index-only scans then read the
  // table.
  await timed(print, 'vacuum', () => pool.query('vacuum'));
  await pool.query('checkpoint');
  print(`  tables filled in ${seconds(startedMs)} s`);
}

/** Fills in one transaction, so that the rows need no WAL (`wal_level` minimal). */
async function fillOne(
  pool: Database,
  { projection, sql, mark }: Fill & { readonly mark: string },
  print: (line: string) => void,
): Promise<void> {
  const schema = schemaOf(projection.name);
  await inTransaction(pool, async (client) => {
    await createTables(client, projection, schema);
    for (const text of sql) await timed(print, `${projection.name}: ${text}`, () => client.query(text));
    await timed(print, `${projection.name}: indexes`, () => createIndexes(client, projection, schema));
  });
  const catalog = await readCatalog(pool, schema);
  for (const table of catalog.keys()) {
    await timed(print, `${projection.name}: vacuum ${table}`, () =>
      pool.query(`vacuum analyze "${schema}"."${table}"`),
    );
  }
  await pool.query(
    `insert into projector.read_model (name, version, state) values ($1, $2, 'live')
     on conflict (name) do update set version = excluded.version`,
    [projection.name, projection.version],
  );
  await setMark(pool, projection.name, mark);
}

/** Inserts a key, because no events stand behind the tables from which a command could issue one. */
async function issueKey(pool: Database): Promise<string> {
  const key = LIVE_KEY.create();
  await pool.query('truncate access.api_key');
  await pool.query(
    `insert into access.workspace (workspace_id, plan) values ($1, 'enterprise') on conflict do nothing`,
    [WORKSPACE_ID],
  );
  await pool.query(
    `insert into access.member (workspace_id, member_id, role) values ($1, $2, 'owner') on conflict do nothing`,
    [WORKSPACE_ID, MEMBER_ID],
  );
  await pool.query(
    `insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes) values ($1, 'key_bench', $2, $3, $4)`,
    [sha256Of(key), WORKSPACE_ID, MEMBER_ID, SCOPES],
  );
  return key;
}

const fillIndexOf = (projection: Projection): number => {
  const index = FILLS.findIndex((fill) => fill.projection === projection);
  return index < 0 ? FILLS.length : index;
};

const describe = ({ version, schema }: Projection): readonly string[] => [
  String(version),
  readFileSync(schema, 'utf8'),
];

const hashOf = (texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\n')).digest('hex');

const setMark = (pool: Database, name: string, mark: string): Promise<unknown> =>
  pool.query(
    `insert into public.filled_by (name, mark) values ($1, $2) on conflict (name) do update set mark = excluded.mark`,
    [name, mark],
  );

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1000).toFixed(1);

const LONG_SECONDS = 5;
const SHOWN_CHARACTERS = 70;

async function timed<T>(print: (line: string) => void, what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work().catch((cause: unknown) => {
    throw new Error(`The corpus could not be filled; check this SQL against the schema:\n${what}`, { cause });
  });
  const taken = seconds(startedMs);
  if (Number(taken) >= LONG_SECONDS) {
    print(`  ${taken.padStart(6)} s  ${what.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARACTERS)}`);
  }
  return result;
}
