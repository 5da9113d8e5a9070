import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

export type Snapshot = {
  readonly stream: string;
  readonly version: number;
  readonly revision: bigint;
  readonly eventId: string;
  readonly state: string;
};

export type SnapshotTable = {
  /** `null` when there is none of this version, or its checksum is wrong. */
  find(stream: string, version: number): Promise<Snapshot | null>;
  store(snapshot: Snapshot): Promise<void>;
  remove(snapshot: Snapshot): Promise<void>;
};

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const MISSING = new Set(['42P01', '3F000']);

const FIND =
  'select revision, event_id, state, checksum from commands.snapshot where stream = $1 and version = $2';
const STORE = `insert into commands.snapshot (stream, version, revision, event_id, state, checksum)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (stream) do update set version = excluded.version, revision = excluded.revision,
    event_id = excluded.event_id, state = excluded.state, checksum = excluded.checksum
  where snapshot.version <> excluded.version or snapshot.revision < excluded.revision`;
const REMOVE = 'delete from commands.snapshot where stream = $1 and event_id = $2';

type Row = {
  readonly revision: string;
  readonly event_id: string;
  readonly state: string;
  readonly checksum: string;
};

/** The first use creates the table, also after an operator dropped it. */
export const openSnapshotTable = (pool: Database): SnapshotTable => {
  const whileMissing = async <T>(query: Promise<T>, otherwise: () => Promise<T>): Promise<T> => {
    try {
      return await query;
    } catch (error) {
      if (!MISSING.has((error as { code?: string }).code ?? '')) throw error;
      return await otherwise();
    }
  };
  const install = (): Promise<void> =>
    installSchema(pool, { lock: ADVISORY_LOCKS.snapshotSchema, sql: SCHEMA });
  const write = async ({ stream, version, revision, eventId, state }: Snapshot): Promise<void> => {
    const values = [stream, version, revision.toString(), eventId, state, crc32(state)];
    await pool.query({ name: 'snapshot_store', text: STORE, values });
  };
  return {
    find: async (stream, version) => {
      const text = { name: 'snapshot_find', text: FIND, values: [stream, version] };
      const { rows } = await whileMissing(pool.query<Row>(text), async () => {
        await install();
        return { rows: [] as Row[] };
      });
      const [row] = rows;
      if (row === undefined || Number(row.checksum) !== crc32(row.state)) return null;
      return { stream, version, revision: BigInt(row.revision), eventId: row.event_id, state: row.state };
    },
    store: (snapshot) =>
      whileMissing(write(snapshot), async () => {
        await install();
        await write(snapshot);
      }),
    remove: async ({ stream, eventId }) => {
      await pool.query(REMOVE, [stream, eventId]);
    },
  };
};
