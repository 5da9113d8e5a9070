import { z } from 'zod';
import { createAccessTables, readAccessCheckpoint } from '#application/access/access-tables.ts';
import { startAccessSubscription } from '#application/access/access-subscription.ts';
import { countingGroup } from '#application/access/request-counts.ts';
import { openPastReads } from '#application/as-of/past-reads.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { emailSettings } from '#platform/channels/email.ts';
import { systemClock } from '#platform/clock.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { requestBudgetSettings } from '#platform/concurrency/time-budget.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { eventStoreAnswerSettings } from '#platform/event-store/settings.ts';
import type { Log } from '#platform/logger.ts';
import { openNats } from '#platform/nats/connection.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { openReadDatabase, openReadDatabases } from '#platform/postgres/read-database.ts';
import { readAnswerSettings } from '#platform/postgres/settings.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { checkKnownLog, waitForServers } from '#platform/process/wait-for-servers.ts';
import {
  Changing,
  LISTEN_HOST,
  TRUSTED_PROXIES,
  readDatabaseSettings,
  secret,
  serverSettings,
} from '#platform/settings.ts';
import { openAlertChannels } from './alert-channels.ts';

const SECRET_MIN_LENGTH = 16;

/** Settings of a process that runs operations. */
export const operationSettings = {
  ...serverSettings,
  ...natsStreamSettings,
  ...eventStoreAnswerSettings,
  ...readAnswerSettings,
  ...requestBudgetSettings,
  ...readDatabaseSettings,
  ...serviceSettings,
  LISTEN_HOST,
  TRUSTED_PROXIES,
  CURSOR_SECRET: secret(
    Changing(z.string().min(SECRET_MIN_LENGTH)),
    'Secret that signs cursors and links to report files; the same in every API and MCP process, at least 16 characters. Two with a comma between while it changes: the first signs, both are accepted.',
  ),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...vaultSettings,
} as const;
const Settings = z.object(operationSettings);

type Surroundings = {
  readonly pool: Database;
  /** For revocations and the access subscription, which no crowd of commands must hold up. */
  readonly controlPool: Database;
  readonly objectStore: ObjectStore;
  readonly resources: AsyncDisposableStack;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Opens what operations use, and waits until requests can be answered. `resources` closes it. */
export const openOperationResources = async (
  name: 'api' | 'mcp',
  settings: z.infer<typeof Settings>,
  { pool, controlPool, objectStore, resources, log, signal }: Surroundings,
) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, MEMBER_VAULT_KEY: vaultKeys } = settings;
  const { READ_ANSWER_MS: answerMs, EVENT_STORE_ANSWER_MS: answerWithinMs } = settings;
  const { db, standby } = openReadDatabases(settings, resources, { answerMs });
  // The primary: the read role cannot see keys and tokens, and a standby would be late.
  const accessDb = resources.use(openReadDatabase(DATABASE_URL, { answerMs }));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL, { answerWithinMs }));
  const pastReads = resources.use(openPastReads(DATABASE_URL, pool, eventStore, { log }));
  const projectionWait = resources.use(openProjectionWait(DATABASE_URL, controlPool, log));
  // Retries without limit, and ends with the process. Until then, requests are counted alone and no scrapes requested.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, name, settings));
  nats.catch(() => undefined);

  await waitForServers(log, signal, { DATABASE_URL });
  await checkKnownLog(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  await Promise.all([db, accessDb, ...(standby ? [standby] : [])].map((one) => one.connect()));
  await createAccessTables(pool);
  const group = await countingGroup(controlPool, 'callers');
  const memberVault = vaultKeys ? await openMemberVault(pool, ...vaultKeys) : null;
  const secretVault = vaultKeys ? await openSecretVault(pool, ...vaultKeys) : null;
  const { EGRESS_ALLOW_LOOPBACK: allowLoopback, EGRESS_OWN_ADDRESSES: ownAddresses } = settings;
  const alertChannels = resources.use(
    openAlertChannels({ allowLoopback, ownAddresses }, settings, systemClock),
  );
  const neverFilled = (await readAccessCheckpoint(pool)) === null;
  const follower = resources.use(startAccessSubscription(controlPool, eventStore, log));
  // Empty access tables would reject every key. Tables that were filled once may only lag a little.
  if (neverFilled) {
    await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL });
    await follower.filled;
  }

  const [cursorSecret, secondSecret] = settings.CURSOR_SECRET;
  return {
    db,
    accessDb,
    standby,
    pool,
    controlPool,
    pastReads,
    rawLog: openRawLog(EVENT_STORE_URL),
    eventStore,
    projectionWait,
    nats,
    cursorSecret,
    downloadSecret: cursorSecret,
    secondSecrets: { cursor: secondSecret, download: secondSecret },
    objectStore,
    memberVault,
    secretVault,
    alertChannels,
    countingGroup: group,
    clock: systemClock,
    log,
  };
};
