import { createAccessTables, readAccessCheckpoint } from '#application/access/access-tables.ts';
import { startAccessSubscription } from '#application/access/access-subscription.ts';
import { countingGroup } from '#application/access/request-counts.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { openPastReads } from '#application/as-of/past-reads.ts';
import { systemClock } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { readBotKey } from '#platform/http-client/bot-key.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { openReadDatabase, openReadDatabases } from '#platform/postgres/read-database.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { checkObjectStore, checkReadModelsBuilt, passOnceMet } from '#platform/process/readiness.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { checkKnownLog, waitForServers } from '#platform/process/wait-for-servers.ts';
import { openAlertChannels } from '#operations/dependencies/alert-channels.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { buildApi } from './server/server.ts';
import { ApiSettings } from './settings.ts';

const POOL_CLIENTS = 10;
/** Connections for revocations and the access subscription, which no crowd of commands must hold up. */
const CONTROL_CLIENTS = 2;
/** Without one of these read models some endpoint always fails, so the process is not ready. */
const READ_MODELS = [...new Set(ENDPOINTS.flatMap(({ reads }) => reads))];

await runProcess('api', ApiSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, EVENT_STORE_ANSWER_MS, NATS_URL, LISTEN_HOST, API_PORT } = settings;
  const { READ_ANSWER_MS: answerMs } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS, requestPoolSettings(answerMs));
  const controlPool = openPool(DATABASE_URL, CONTROL_CLIENTS, requestPoolSettings(answerMs));
  const readModels = passOnceMet(checkReadModelsBuilt(controlPool, READ_MODELS));
  const objectStore = await openObjectStore(settings);
  const operatorPort = resources.use(
    await openOperatorPort({
      settings,
      log,
      signal,
      checks: { read_models: readModels },
      serverChecks: { object_store: checkObjectStore(objectStore) },
    }),
  );
  resources.defer(() => pool.end());
  resources.defer(() => controlPool.end());
  const { db, standby } = openReadDatabases(settings, resources, { answerMs });
  const accessDb = resources.use(openReadDatabase(DATABASE_URL, { answerMs }));
  const eventStore = resources.use(
    openEventStore(EVENT_STORE_URL, { answerWithinMs: EVENT_STORE_ANSWER_MS }),
  );
  const pastReads = resources.use(openPastReads(DATABASE_URL, pool, eventStore));
  const projectionWait = resources.use(openProjectionWait(DATABASE_URL, controlPool, log));
  // The API serves without NATS and sends scrape requests once it is connected.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'api', settings));
  resources.defer(async () => {
    // A connection attempt that is still retrying ends with the process.
    const opened = await Promise.race([nats.catch(() => null), Promise.resolve(null)]);
    await opened?.[Symbol.asyncDispose]();
  });

  await waitForServers(log, signal, { DATABASE_URL });
  await checkKnownLog(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  await Promise.all([db, accessDb, ...(standby ? [standby] : [])].map((one) => one.connect()));
  await createAccessTables(pool);
  const group = await countingGroup(controlPool, 'callers');
  const { MEMBER_VAULT_KEY: vaultKeys } = settings;
  const memberVault = vaultKeys ? await openMemberVault(pool, ...vaultKeys) : null;
  const secretVault = vaultKeys ? await openSecretVault(pool, ...vaultKeys) : null;
  const alertChannels = resources.use(
    openAlertChannels(
      { allowLoopback: settings.EGRESS_ALLOW_LOOPBACK, ownAddresses: settings.EGRESS_OWN_ADDRESSES },
      settings,
      systemClock,
    ),
  );
  const neverFilled = (await readAccessCheckpoint(pool)) === null;
  const follower = resources.use(startAccessSubscription(controlPool, eventStore, log));
  // Empty access tables would reject every key. Tables that were filled once may only lag a little.
  if (neverFilled) {
    await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL });
    await follower.filled;
  }

  const { BOT_KEY_FILE } = settings;
  const botKey = BOT_KEY_FILE === undefined ? null : await readBotKey(BOT_KEY_FILE, settings.API_BASE_URL);
  const baseUrl = settings.API_BASE_URL ?? `http://${LISTEN_HOST}:${API_PORT}`;
  const [cursorSecret, secondCursorSecret] = settings.CURSOR_SECRET;
  const { API_REQUESTS_PER_MINUTE: requestsPerMinute } = settings;
  const app = buildApi({
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
    baseUrl,
    cursorSecret,
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute, refusedPerMinute: requestsPerMinute }),
    requestBudgetMs: settings.REQUEST_BUDGET_MS,
    readAnswerMs: answerMs,
    loopDelayMs: settings.LOOP_DELAY_MS,
    corsOrigins: settings.CORS_ORIGINS,
    testMode: settings.TEST_MODE,
    testWorldUrl: settings.TEST_WORLD_URL,
    ...(settings.TRUSTED_PROXIES ? { trustedProxies: settings.TRUSTED_PROXIES } : {}),
    downloadSecret: cursorSecret,
    secondSecrets: { cursor: secondCursorSecret, download: secondCursorSecret },
    objectStore,
    memberVault,
    secretVault,
    alertChannels,
    botKey,
    countingGroup: group,
    clock: systemClock,
    log,
  });
  resources.defer(() => app.close());
  await app.listen({ host: LISTEN_HOST, port: API_PORT });
  operatorPort.started();
  log.info({ url: baseUrl }, 'listening');
});
