import { createAccessTables, readAccessCheckpoint } from '#application/access/access-tables.ts';
import { countingGroup } from '#application/access/request-counts.ts';
import { startAccessSubscription } from '#application/access/access-subscription.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { createThumbnails } from '#application/media/thumbnails.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { openAlertChannels } from '#operations/dependencies/alert-channels.ts';
import { createOperationDependencies } from '#operations/dependencies/create-dependencies.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { openPastReads } from '#application/as-of/past-reads.ts';
import { systemClock } from '#platform/clock.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { openReadDatabase, openReadDatabases } from '#platform/postgres/read-database.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { checkReadModelsBuilt, passOnceMet } from '#platform/process/readiness.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { checkKnownLog, waitForServers } from '#platform/process/wait-for-servers.ts';
import { buildMcpApp } from './app.ts';
import { registerOauthRoutes } from './http/oauth-routes.ts';
import { hasClientDocuments, McpSettings } from './settings.ts';
import { openMemberSignIn } from './members/pages-context.ts';
import { registerMemberPages } from './members/routes.ts';
import { requestFaultPage } from './pages/layout.ts';
import { createFetchForClient } from './sign-in/client-documents.ts';
import { createConnections, startHousekeeping } from './sign-in/connections.ts';
import { createProvider, deriveKeys, resourceOf } from './sign-in/provider.ts';
import { createVerifyAccessToken } from './sign-in/verify-access-token.ts';

const POOL_CLIENTS = 10;
/** Afterwards the connection of an app ends, and the member must sign in again. */
const CONNECTION_DAYS = 180;
/** A call may read several endpoints, so it has more time than another request. */
const CALL_TIMES = 2;
/** Without any of these tables some tool always fails, so the process is not ready. */
const READ_MODELS = [...new Set(ENDPOINTS.flatMap(({ reads }) => reads))];

await runProcess('mcp', McpSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, EVENT_STORE_ANSWER_MS, NATS_URL, LISTEN_HOST, MCP_PORT } = settings;
  const { READ_ANSWER_MS: answerMs } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS, requestPoolSettings(answerMs));
  const readModels = passOnceMet(checkReadModelsBuilt(pool, READ_MODELS));
  const operatorPort = resources.use(
    await openOperatorPort({ settings, log, signal, checks: { read_models: readModels } }),
  );
  resources.defer(() => pool.end());
  const { db, standby } = openReadDatabases(settings, resources, { answerMs });
  // The primary: the read role cannot see tokens, and a replica would be late.
  const tokens = resources.use(openReadDatabase(DATABASE_URL, { answerMs }));
  const eventStore = resources.use(
    openEventStore(EVENT_STORE_URL, { answerWithinMs: EVENT_STORE_ANSWER_MS }),
  );
  const projectionWait = resources.use(openProjectionWait(DATABASE_URL, pool, log));
  // Retries without limit. Until NATS is connected, this process counts requests alone.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'mcp', settings));
  resources.defer(async () => {
    // A pending connection attempt ends with the process.
    const opened = await Promise.race([nats.catch(() => null), Promise.resolve(null)]);
    await opened?.[Symbol.asyncDispose]();
  });

  await waitForServers(log, signal, { DATABASE_URL });
  await checkKnownLog(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  await Promise.all([db, tokens, ...(standby ? [standby] : [])].map((one) => one.connect()));
  await createAccessTables(pool);
  await createAuthorizationTables(pool);
  const group = await countingGroup(pool, 'callers');
  const { MEMBER_VAULT_KEY: vaultKeys } = settings;
  const alertChannels = resources.use(
    openAlertChannels(
      { allowLoopback: settings.EGRESS_ALLOW_LOOPBACK, ownAddresses: settings.EGRESS_OWN_ADDRESSES },
      settings,
      systemClock,
    ),
  );
  const neverFilled = (await readAccessCheckpoint(pool)) === null;
  const follower = resources.use(startAccessSubscription(pool, eventStore, log));
  // Empty access tables would reject everyone. Filled tables may only lag a little.
  if (neverFilled) {
    await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL });
    await follower.filled;
  }

  const objectStore = await openObjectStore(settings);
  const [cursorSecret, secondCursorSecret] = settings.CURSOR_SECRET;
  const operations = createOperationDependencies({
    db,
    standby,
    pool,
    pastReads: resources.use(openPastReads(DATABASE_URL, pool, eventStore)),
    rawLog: openRawLog(EVENT_STORE_URL),
    eventStore,
    projectionWait,
    nats,
    baseUrl: settings.API_BASE_URL,
    cursorSecret,
    downloadSecret: cursorSecret,
    secondSecrets: { cursor: secondCursorSecret, download: secondCursorSecret },
    objectStore,
    memberVault: vaultKeys ? await openMemberVault(pool, ...vaultKeys) : null,
    secretVault: vaultKeys ? await openSecretVault(pool, ...vaultKeys) : null,
    alertChannels,
    countingGroup: group,
    clock: systemClock,
    log,
  });
  resources.use(operations.requestCounts);
  resources.use(operations.keyUsage);
  resources.use(operations.readRoutes);
  const dependencies = { ...operations, thumbnails: createThumbnails(objectStore) };

  const connections = createConnections({
    pool,
    workspaceCommands: dependencies.workspaceCommands,
    clock: systemClock,
    connectionDays: CONNECTION_DAYS,
  });

  const baseUrl = settings.MCP_BASE_URL ?? `http://${LISTEN_HOST}:${MCP_PORT}`;
  const signIn = resources.use(
    await openMemberSignIn(
      {
        ...dependencies,
        baseUrl,
        connectionDays: CONNECTION_DAYS,
        pool,
        connections,
      },
      settings,
    ),
  );
  resources.use(startHousekeeping({ pool, connections, signIn, log }));
  const hasDocuments = hasClientDocuments(baseUrl, settings.EGRESS_ALLOW_LOOPBACK);
  const egress = resources.use(
    openEgress({
      allowLoopback: settings.EGRESS_ALLOW_LOOPBACK,
      ownAddresses: settings.EGRESS_OWN_ADDRESSES,
    }),
  );
  const provider = createProvider({
    baseUrl,
    pool,
    connections,
    members: signIn.accounts,
    keys: deriveKeys(...settings.MCP_SECRET),
    fetchForClient: hasDocuments ? createFetchForClient(egress) : null,
    hasRegistration: settings.MCP_DYNAMIC_REGISTRATION === 'on',
    connectionDays: CONNECTION_DAYS,
    errorPage: requestFaultPage,
    log,
  });
  const allowedOrigins = settings.MCP_ALLOWED_ORIGINS ?? [];
  const app = await buildMcpApp(
    {
      baseUrl,
      allowedOrigins,
      hasWrites: settings.MCP_WRITES === 'on',
      verifyAccessToken: createVerifyAccessToken(tokens, resourceOf(baseUrl)),
      dependencies,
    },
    {
      trustedProxies: settings.TRUSTED_PROXIES ?? [],
      requestBudgetMs: settings.REQUEST_BUDGET_MS,
      callBudgetMs: CALL_TIMES * settings.REQUEST_BUDGET_MS,
      routes: [
        (one) => registerOauthRoutes(one, { provider, baseUrl, allowedOrigins }),
        (one) => registerMemberPages(one, signIn.pages(provider), dependencies),
      ],
    },
  );
  resources.defer(() => app.close());
  await app.listen({ host: LISTEN_HOST, port: MCP_PORT });
  operatorPort.started();
  log.info({ url: `${baseUrl}/mcp` }, 'listening');
});
