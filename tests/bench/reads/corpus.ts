import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '#deploy/local/nats/start.ts';
import { type LocalPostgres, startPostgres } from '#deploy/local/postgres/start.ts';
import { SCOPES } from '#contracts/values/access/scopes.ts';
import { createKeyText, sha256Of } from '#application/access/api-key-format.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createIndexes, createTables, readCatalog, schemaOf } from '#services/projector/read-model-schema.ts';
import { STACK_FOLDER_PREFIX } from '#tests/stack/stale-databases.ts';
import { startStore } from '../event-store/processes.ts';
import type { Fill } from './fill.ts';
import { FILLS } from './fills.ts';
import { MEMBER_ID, WORKSPACE_ID } from './fill-workspace.ts';
import { SEEDS } from './seeds.ts';
import { SCALE } from '../bench.ts';
import { openPlainPool } from '../servers.ts';

/**
 * The read models of the big corpus, kept in the folder `ad-corpus-for-benches` of the system's temporary
 * directory, or in a folder with the scale in its name. A hash of each projection's version, schema, fill and seeds is stored with its tables. A later run
 * refills only the projections whose hash changed. Delete the folder to rebuild everything, in about five minutes.
 * Ages are relative to the day on which the corpus was made.
 */
const FOLDER = join(tmpdir(), SCALE === 1 ? 'ad-corpus-for-benches' : `ad-corpus-for-benches-${SCALE}`);
/** Settings used while filling. Requests are measured with the default settings of a local server. */
const FILLING_SETTINGS = {
  shared_buffers: '1GB',
  work_mem: '256MB',
  maintenance_work_mem: '768MB',
  max_wal_size: '8GB',
  max_parallel_maintenance_workers: '1',
};
/** A smaller corpus is filled in the server that is measured: to start another takes longer than to fill it. */
const OWN_SERVER_MIN_SCALE = 0.01;
const FILLING_CLIENTS = 2;
const KEYS = 2_000;

export type BigCorpus = {
  readonly pool: Database;
  readonly keys: readonly string[];
  readonly postmasterPid: number;
  /** Environment of the API process. */
  readonly environment: Readonly<Record<string, string>>;
};

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
  const postgres = await startPostgres({ folder: FOLDER, port: 0 });
  resources.defer(() => postgres.stop());
  if (SCALE < OWN_SERVER_MIN_SCALE) await fillWhatChanged(postgres, print);
  const natsFolder = await mkdtemp(join(tmpdir(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  resources.defer(() => rm(natsFolder, { recursive: true, force: true }));
  await chmod(natsFolder, 0o755);
  const nats = await startNats({ folder: natsFolder, port: 0 });
  resources.defer(() => nats.stop());
  const pidFile = await readFile(join(FOLDER, 'cluster', 'postmaster.pid'), 'utf8');
  const postmasterPid = Number(pidFile.split('\n')[0]);
  const store = await startStore(postgres.databaseUrl('event_store'), postmasterPid);
  resources.defer(() => store.stop());
  const databaseUrl = postgres.databaseUrl('read_models');
  const pool = openPlainPool(databaseUrl, FILLING_CLIENTS);
  resources.defer(() => pool.end());
  return {
    pool,
    keys: await issueKeys(pool),
    postmasterPid,
    environment: {
      DATABASE_URL: databaseUrl,
      EVENT_STORE_URL: store.url,
      NATS_URL: nats.url,
      // The keys of the corpus share one workspace, whose limit must not end the bench.
      API_REQUESTS_PER_MINUTE: '1000000000',
    },
  };
}

async function fillWhatChanged(postgres: LocalPostgres, print: (line: string) => void): Promise<void> {
  await postgres.createDatabase('read_models');
  await postgres.createDatabase('event_store');
  const pool = openPlainPool(postgres.databaseUrl('read_models'), FILLING_CLIENTS);
  try {
    await fillTables(pool, print);
  } finally {
    await pool.end();
  }
}

/** The last applied scan of each brand, in read models whose replies take `as_of` from it. */
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

/**
 * Creates and fills the tables of one projection in one transaction, so that the rows need no WAL (`wal_level`
 * minimal).
 */
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

async function issueKeys(pool: Database): Promise<readonly string[]> {
  const keys = Array.from({ length: KEYS }, () => createKeyText());
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
    `insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes)
     select sha256, 'key_bench' || number, $2, $3, $4 from unnest($1::text[]) with ordinality as k(sha256, number)`,
    [keys.map(sha256Of), WORKSPACE_ID, MEMBER_ID, SCOPES],
  );
  return keys;
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

/** Steps that take at least this long are printed. */
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
