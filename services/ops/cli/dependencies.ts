import type { Command } from 'commander';
import { z } from 'zod';
import type { Actor } from '#contracts/events/event.ts';
import { type KeyFormat, keyFormatIn, testModeSettings } from '#application/access/key-format.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type RawLog, openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { type Fields, printRecord, printTable } from '#platform/command-line.ts';
import { createLog } from '#platform/logger.ts';
import { openSecretVault, type SecretVault } from '#application/vault/secret-vault.ts';
import { type MemberVault, openMemberVault } from '#application/vault/member-vault.ts';
import { type Database, LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { openSnapshotTable, withSnapshots } from '#application/commands/snapshots/with-snapshots.ts';
import { createWorkspaceCommands, type WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { auditSettings } from '#application/audit/signing-key.ts';

const POOL_CLIENTS = 2;

/** Logs errors only, because commands print their own output. */
const Settings = z
  .object({
    ...serverSettings,
    LOG_LEVEL: serverSettings.LOG_LEVEL.default('error'),
    ...vaultSettings,
    ...testModeSettings,
    ...auditSettings,
    MCP_BASE_URL: z
      .url()
      .default('http://127.0.0.1:8082')
      .transform((url) => url.replace(/\/+$/, '')),
  })
  .omit({ NATS_URL: true });

export type OpsDependencies = {
  readonly eventStore: EventStore;
  readonly rawLog: RawLog;
  readonly pool: Database;
  readonly db: ReadDatabase;
  readonly workspaceCommands: WorkspaceCommands;
  readonly actor: Actor;
  readonly testMode: boolean;
  readonly keyFormat: KeyFormat;
  /** `null` without MEMBER_VAULT_KEY. */
  readonly memberVault: MemberVault | null;
  /** `null` without MEMBER_VAULT_KEY. */
  readonly secretVault: SecretVault | null;
  readonly auditSigningKey: string | null;
  readonly mcpBaseUrl: string;
};

export const withOpsDependencies = async <T>(
  run: (dependencies: OpsDependencies) => Promise<T>,
): Promise<T> => {
  const settings = readSettings(Settings, environmentWithLocalStack());
  await using resources = new AsyncDisposableStack();
  const pool = openPool(settings.DATABASE_URL, POOL_CLIENTS, {
    statement_timeout: LONG_STATEMENT_TIMEOUT_MS,
  });
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(settings.DATABASE_URL));
  const log = createLog('ops', settings.LOG_LEVEL);
  const opened = resources.use(openEventStore(settings.EVENT_STORE_URL));
  const eventStore = withSnapshots(opened, openSnapshotTable(pool), log);
  const projectionWait = resources.use(openProjectionWait(settings.DATABASE_URL, pool, log));
  await createAccessTables(pool);
  const { MEMBER_VAULT_KEY, AUDIT_SIGNING_KEY } = settings;
  return await run({
    eventStore,
    rawLog: openRawLog(settings.EVENT_STORE_URL),
    pool,
    db,
    workspaceCommands: createWorkspaceCommands({ eventStore, pool, projectionWait }),
    actor: { kind: 'service', id: 'ops' },
    testMode: settings.TEST_MODE,
    keyFormat: keyFormatIn(settings.TEST_MODE),
    memberVault: MEMBER_VAULT_KEY === undefined ? null : await openMemberVault(pool, ...MEMBER_VAULT_KEY),
    secretVault: MEMBER_VAULT_KEY === undefined ? null : await openSecretVault(pool, ...MEMBER_VAULT_KEY),
    auditSigningKey: AUDIT_SIGNING_KEY ?? null,
    mcpBaseUrl: settings.MCP_BASE_URL,
  });
};

/** Arguments of a command as Commander passes them: arguments, options, command. */
type Run<Arguments extends readonly unknown[], T> = (
  dependencies: OpsDependencies,
  ...commandArguments: Arguments
) => Promise<T>;

const printing =
  <Arguments extends readonly unknown[], T>(
    run: Run<Arguments, T>,
    print: (command: Command, result: T) => void,
  ) =>
  async (...passed: readonly unknown[]): Promise<void> => {
    const result = await withOpsDependencies((dependencies) =>
      run(dependencies, ...(passed as unknown as Arguments)),
    );
    print(passed.at(-1) as Command, result);
  };

/** Action of a command that prints what it did. */
export const recordAction = <Arguments extends readonly unknown[]>(run: Run<Arguments, Fields>) =>
  printing(run, printRecord);

/** Action of a command that prints a list. */
export const tableAction = <Arguments extends readonly unknown[]>(
  columns: readonly string[],
  run: Run<Arguments, readonly Fields[]>,
) => printing(run, (command, rows) => printTable(command, columns, rows));
