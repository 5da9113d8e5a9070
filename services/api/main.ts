import { readBotKey } from '#platform/http-client/bot-key.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { checkObjectStore, checkReadModelsBuilt, passOnceMet } from '#platform/process/readiness.ts';
import { openOperationResources } from '#operations/dependencies/open-resources.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { buildApi } from './server/server.ts';
import { ApiSettings } from './settings.ts';

const POOL_CLIENTS = 10;
/** Connections for revocations and the access subscription, which no crowd of commands must hold up. */
const CONTROL_CLIENTS = 2;
/** Without one of these read models some endpoint always fails, so the process is not ready. */
const READ_MODELS = [...new Set(ENDPOINTS.flatMap(({ reads }) => reads))];

await runProcess('api', ApiSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, LISTEN_HOST, API_PORT, READ_ANSWER_MS: answerMs } = settings;
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
  const surroundings = { pool, controlPool, objectStore, resources, log, signal };
  const operations = await openOperationResources('api', settings, surroundings);

  const { BOT_KEY_FILE } = settings;
  const botKey = BOT_KEY_FILE === undefined ? null : await readBotKey(BOT_KEY_FILE, settings.API_BASE_URL);
  const baseUrl = settings.API_BASE_URL ?? `http://${LISTEN_HOST}:${API_PORT}`;
  const { API_REQUESTS_PER_MINUTE: requestsPerMinute } = settings;
  const app = buildApi({
    ...operations,
    baseUrl,
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute, refusedPerMinute: requestsPerMinute }),
    requestBudgetMs: settings.REQUEST_BUDGET_MS,
    readAnswerMs: answerMs,
    loopDelayMs: settings.LOOP_DELAY_MS,
    corsOrigins: settings.CORS_ORIGINS,
    testMode: settings.TEST_MODE,
    testWorldUrl: settings.TEST_WORLD_URL,
    ...(settings.TRUSTED_PROXIES ? { trustedProxies: settings.TRUSTED_PROXIES } : {}),
    botKey,
  });
  resources.defer(() => app.close());
  await app.listen({ host: LISTEN_HOST, port: API_PORT });
  operatorPort.started();
  log.info({ url: baseUrl }, 'listening');
});
