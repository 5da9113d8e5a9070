import { z } from 'zod';
import { createAccessTables, readAccessCheckpoint } from '#platform/access/tables.ts';
import { followAccess } from '#platform/access/follow.ts';
import { systemClock } from '#platform/clock.ts';
import { emailSettings } from '#platform/channels/email.ts';
import { Port, readSettings, serverSettings } from '#platform/config.ts';
import { egressSettings } from '#platform/egress/open-egress.ts';
import { openEventStore } from '#platform/event-store.ts';
import { createLog } from '#platform/log.ts';
import { MemberVaultKey, openMemberVault } from '#platform/member-vault.ts';
import { openNats } from '#platform/nats.ts';
import { objectStoreSettings, openObjectStore } from '#platform/object-store.ts';
import { openOperatorPort, operatorPortSettings } from '#platform/operator-port.ts';
import { openPool, openReadDatabase } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { readModelsMade, untilFirstMet } from '#platform/readiness.ts';
import { retry } from '#platform/retry.ts';
import { openReadPosition } from '#platform/read-position.ts';
import { openSecretVault } from '#platform/secret-vault.ts';
import { openAlertChannels } from './alert-channels.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { buildApi } from './server.ts';

/** Commands, idempotency keys and checkpoints; reads have connections of their own. */
const POOL_CLIENTS = 10;
const NATS_RETRIES = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, maxDelayMs: 10_000 };
const SECRET_MIN_LENGTH = 16;
/** Without one of these some endpoint can only fail. */
const READ_MODELS = [...new Set(ENDPOINTS.flatMap(({ reads }) => reads))];

const Settings = z.object({
  ...serverSettings,
  ...operatorPortSettings,
  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: Port.default(8080),
  /** Where clients reach this service, without a slash at its end. From host and port when not set. */
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Signs cursors; the same in every API process. */
  CURSOR_SECRET: z.string().min(SECRET_MIN_LENGTH),
  /** Signs the addresses of files; `CURSOR_SECRET` when not set. */
  DOWNLOAD_SECRET: z.string().min(SECRET_MIN_LENGTH).optional(),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  /** Opens the names of members and keeps secrets of webhooks; without it `me` answers none, and none are sent. */
  MEMBER_VAULT_KEY: MemberVaultKey.optional(),
});

const settings = readSettings(Settings);
const log = createLog('api', settings.LOG_LEVEL);

await runProcess(log, async ({ resources, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, API_HOST, API_PORT } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS);
  const readModels = untilFirstMet(readModelsMade(pool, READ_MODELS));
  const operatorPort = resources.use(
    await openOperatorPort({ settings, log, signal, checks: { read_models: readModels } }),
  );
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  const readPosition = resources.use(openReadPosition(DATABASE_URL, pool, log));
  // Looked for without end: the API serves without it, and hands scrapes off once it is there.
  const nats = retry(
    NATS_RETRIES,
    () => true,
    () => openNats(NATS_URL, 'api'),
    signal,
  );
  resources.defer(async () => {
    // One that is still looking for its server is left behind with the process.
    const opened = await Promise.race([nats.catch(() => null), Promise.resolve(null)]);
    await opened?.[Symbol.asyncDispose]();
  });

  await createAccessTables(pool);
  const { MEMBER_VAULT_KEY } = settings;
  const memberVault = MEMBER_VAULT_KEY === undefined ? null : await openMemberVault(pool, MEMBER_VAULT_KEY);
  const secretVault = MEMBER_VAULT_KEY === undefined ? null : await openSecretVault(pool, MEMBER_VAULT_KEY);
  const alertChannels = resources.use(
    openAlertChannels({ allowLoopback: settings.EGRESS_ALLOW_LOOPBACK }, settings, systemClock),
  );
  const neverFilled = (await readAccessCheckpoint(pool)) === null;
  const follower = resources.use(followAccess(pool, eventStore, log));
  // Empty tables would refuse every key; tables that were filled once are at worst a moment behind.
  if (neverFilled) await follower.filled;

  const baseUrl = settings.API_BASE_URL ?? `http://${API_HOST}:${API_PORT}`;
  const app = buildApi({
    db,
    pool,
    eventStore,
    readPosition,
    nats,
    baseUrl,
    cursorSecret: settings.CURSOR_SECRET,
    downloadSecret: settings.DOWNLOAD_SECRET ?? settings.CURSOR_SECRET,
    objectStore: openObjectStore(settings.OBJECT_STORE_DIR),
    memberVault,
    secretVault,
    alertChannels,
    clock: systemClock,
    log,
  });
  resources.defer(() => app.close());
  await app.listen({ host: API_HOST, port: API_PORT });
  operatorPort.started();
  log.info({ url: baseUrl }, 'listening');
});
