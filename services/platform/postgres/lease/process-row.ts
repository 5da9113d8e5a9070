import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { SCHEMA_REGISTRY } from '#contracts/events/schema-registry.ts';
import { pause } from '../../clock.ts';
import type { Database } from '../pool.ts';
import packageJson from '../../../../package.json' with { type: 'json' };

/** Milliseconds between two renewals of the row of a process. */
const BEAT_MS = 2_000;
/** Seconds without a renewal after which a process counts as dead. */
const DEAD_AFTER_SECONDS = 10;
/** Minutes after which the row of a dead process is deleted. */
const FORGOTTEN_AFTER_MINUTES = 60;

/** SQL condition: the process whose `run.process` row has this alias is alive. */
export const isAliveSql = (alias: string): string =>
  `${alias}.seen_at > now() - interval '${DEAD_AFTER_SECONDS} seconds'`;

/** Event types that this release reads, by category, with the highest schema version. */
const READS = Object.fromEntries(
  Object.entries(SCHEMA_REGISTRY).map(([category, types]) => [
    category,
    Object.fromEntries(Object.entries(types).map(([type, upcasters]) => [type, 1 + upcasters.length])),
  ]),
);

const BEAT = `
  insert into run.process as p (id, role, release, reads) values ($1, $2, $3, $4)
  on conflict (id) do update set seen_at = now()`;

/** The row of a process in `run.process`. It ends with the process. */
export type ProcessRow = AsyncDisposable & { readonly id: string };

/** Returns a name of a process that no other has, also after a restart: host, process id and a random part. */
const createProcessId = (): string => `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;

/** Keeps the row of a process alive until disposed of. A renewal that fails is left to the next one. */
export const openProcessRow = async (database: Database, role: string): Promise<ProcessRow> => {
  const id = createProcessId();
  const ending = new AbortController();
  const beat = (): Promise<unknown> =>
    database.query({ name: 'beat', text: BEAT, values: [id, role, packageJson.version, READS] });
  await beat();
  await database.query(
    `delete from run.process where seen_at < now() - interval '${FORGOTTEN_AFTER_MINUTES} minutes'`,
  );
  const beating = (async (): Promise<void> => {
    for (;;) {
      await pause(BEAT_MS, ending.signal);
      if (ending.signal.aborted) return;
      await beat().catch(() => undefined);
    }
  })();
  return {
    id,
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await beating;
      await database.query('delete from run.process where id = $1', [id]).catch(() => undefined);
    },
  };
};
