import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalPostgres, startPostgres } from '#deploy/local/postgres/start.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { killOn } from '#tests/stack/killable-servers.ts';
import { STACK_FOLDER_PREFIX, stackRoot } from '#tests/stack/stale-databases.ts';

/** A standby must allow at least as many connections and senders as its primary. */
const REPLICATING = { wal_level: 'replica', max_wal_senders: '4', shared_buffers: '64MB' };

export type ReplicatedPostgres = AsyncDisposable & {
  readonly primary: LocalPostgres;
  readonly standby: LocalPostgres;
  startStandby(): Promise<void>;
  /** Makes commits wait for the standby, so that a failover loses nothing that was acknowledged. */
  commitOnBoth(): Promise<void>;
  failOver(): Promise<void>;
};

const PROMOTION_SECONDS = 60;

const runOn = async (url: string, ...statements: readonly string[]): Promise<void> => {
  const pool = openPool(url, 1);
  try {
    for (const statement of statements) await pool.query(statement);
  } finally {
    await pool.end();
  }
};

const primaryConnection = (primaryUrl: string): string => {
  const { hostname, port, username, password } = new URL(primaryUrl);
  return `host=${hostname} port=${port} user=${username} password=${password}`;
};

/** Starts the standby as a copy of the stopped primary. `lateMs`: delay of each commit on the standby. */
export const startReplicatedPostgres = async ({ lateMs = 0 } = {}): Promise<ReplicatedPostgres> => {
  const resources = new AsyncDisposableStack();
  const home = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  await chmod(home, 0o755);
  resources.defer(() => rm(home, { recursive: true, force: true }));
  const folder = { primary: join(home, 'primary'), standby: join(home, 'standby') };
  await (await startPostgres({ folder: folder.primary, port: 0, settings: REPLICATING })).stop();
  await promisify(execFile)('cp', ['-a', folder.primary, folder.standby]);
  await writeFile(join(folder.standby, 'cluster', 'standby.signal'), '', { mode: 0o644 });
  const primary = await startPostgres({ folder: folder.primary, port: 0, settings: REPLICATING });
  resources.defer(() => primary.stop());
  const startStandby = (port: number): Promise<LocalPostgres> =>
    startPostgres({
      folder: folder.standby,
      port,
      settings: {
        ...REPLICATING,
        primary_conninfo: primaryConnection(primary.url),
        recovery_min_apply_delay: `${lateMs}ms`,
      },
    });
  let standby = await startStandby(0);
  resources.defer(() => standby.stop());
  return {
    primary,
    get standby() {
      return standby;
    },
    startStandby: async () => {
      standby = await startStandby(standby.port);
    },
    commitOnBoth: () =>
      runOn(primary.url, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()'),
    failOver: async () => {
      await killOn(folder.primary);
      await runOn(standby.url, `select pg_promote(true, ${PROMOTION_SECONDS})`);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
