import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { SCHEMA_REGISTRY } from '#contracts/events/schema-registry.ts';
import { pause } from '../../clock.ts';
import type { Database } from '../pool.ts';
import packageJson from '../../../../package.json' with { type: 'json' };

const BEAT_MS = 2_000;
const FORGOTTEN_AFTER_MINUTES = 60;

/** Event types by category, with the highest schema version that this release reads. */
const READS = Object.fromEntries(
  Object.entries(SCHEMA_REGISTRY).map(([category, types]) => [
    category,
    Object.fromEntries(Object.entries(types).map(([type, upcasters]) => [type, 1 + upcasters.length])),
  ]),
);

const BEAT = `
  insert into run.process as p (id, role, release, reads) values ($1, $2, $3, $4)
  on conflict (id) do update set seen_at = now()`;

export type ProcessRow = AsyncDisposable & { readonly id: string };

/** Names a process uniquely, also after a restart. */
const createProcessId = (): string => `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;

/** Renews the row until disposed. A renewal that fails is left to the next one. */
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
