import { openSecretVault } from '#application/vault/secret-vault.ts';
import { pause, systemClock } from '#platform/clock.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { readBotKey } from '#platform/http-client/bot-key.ts';
import { openNats } from '#platform/nats/connection.ts';
import { FENCED_CONNECTION } from '#platform/postgres/lease/leases.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import { runCollector } from './collector.ts';
import { createCollectorTables } from './collector-tables.ts';
import { ADS_ARCHIVE, CollectorSettings } from './settings.ts';

const POOL_CLIENTS = 8;

await runProcess('collector', CollectorSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, NATS_URL, COLLECT_VIA, COLLECT_SOURCES } = settings;
  const { EGRESS_ALLOW_LOOPBACK, EGRESS_OWN_ADDRESSES } = settings;
  if (COLLECT_VIA !== undefined && !EGRESS_ALLOW_LOOPBACK) {
    throw new Error('COLLECT_VIA needs EGRESS_ALLOW_LOOPBACK=true, because it sends requests to loopback.');
  }
  const { MEMBER_VAULT_KEY, ADS_ARCHIVE_APP } = settings;
  const readsArchive = COLLECT_SOURCES.includes('ads_archive');
  if (readsArchive && MEMBER_VAULT_KEY === undefined) {
    throw new Error('The source ads_archive needs MEMBER_VAULT_KEY, because its token is stored encrypted.');
  }
  const { BOT_KEY_FILE, API_BASE_URL } = settings;
  const botKey = BOT_KEY_FILE === undefined ? null : await readBotKey(BOT_KEY_FILE, API_BASE_URL);
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  await waitForServers(log, signal, { DATABASE_URL, NATS_URL });
  const database = openPool(DATABASE_URL, POOL_CLIENTS, { options: FENCED_CONNECTION });
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  await untilServerAnswers(log, signal, 'Postgres', () => createCollectorTables(database));
  const nats = resources.use(
    await untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'collector', settings)),
  );
  const vault =
    readsArchive && MEMBER_VAULT_KEY !== undefined
      ? await untilServerAnswers(log, signal, 'Postgres', () =>
          openSecretVault(database, ...MEMBER_VAULT_KEY),
        )
      : null;
  const collecting = runCollector({
    database,
    db,
    nats,
    egress: resources.use(
      openEgress({ allowLoopback: EGRESS_ALLOW_LOOPBACK, ownAddresses: EGRESS_OWN_ADDRESSES }),
    ),
    via: COLLECT_VIA ?? null,
    contact: settings.COLLECT_CONTACT,
    botKey,
    sources: COLLECT_SOURCES,
    archive:
      vault === null
        ? null
        : {
            databaseUrl: DATABASE_URL,
            vault,
            ...ADS_ARCHIVE,
            appSecret: ADS_ARCHIVE_APP?.secret ?? null,
            countries: settings.ADS_ARCHIVE_COUNTRIES,
            reached: settings.ADS_ARCHIVE_REACHED,
            callsPerHour: settings.ADS_ARCHIVE_CALLS_PER_HOUR,
            wait: pause,
          },
    clock: systemClock,
    log,
    signal,
  });
  resources.defer(() => collecting);
  operatorPort.started();
  log.info({ sources: COLLECT_SOURCES }, 'collector started');
});
