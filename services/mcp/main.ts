import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { createThumbnails } from '#application/media/thumbnails.ts';
import { openOperationResources } from '#operations/dependencies/open-resources.ts';
import { createOperationDependencies } from '#operations/dependencies/create-dependencies.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { systemClock } from '#platform/clock.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { checkReadModelsBuilt, passOnceMet } from '#platform/process/readiness.ts';
import { runProcess } from '#platform/process/run-process.ts';
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
  const { DATABASE_URL, LISTEN_HOST, MCP_PORT } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS, requestPoolSettings(settings.READ_ANSWER_MS));
  const readModels = passOnceMet(checkReadModelsBuilt(pool, READ_MODELS));
  const operatorPort = resources.use(
    await openOperatorPort({ settings, log, signal, checks: { read_models: readModels } }),
  );
  resources.defer(() => pool.end());
  const objectStore = await openObjectStore(settings);
  const surroundings = { pool, controlPool: pool, objectStore, resources, log, signal };
  const opened = await openOperationResources('mcp', settings, surroundings);
  await createAuthorizationTables(pool);
  const operations = createOperationDependencies({ ...opened, baseUrl: settings.API_BASE_URL });
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
      verifyAccessToken: createVerifyAccessToken(opened.accessDb, resourceOf(baseUrl)),
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
