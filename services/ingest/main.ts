import { setFlagsFromString } from 'node:v8';
import { openNats } from '#platform/nats/connection.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import { consumeAsLeader } from './queue/single-active-consumer.ts';
import { openIntake } from './intake/observation-handler.ts';
import { IngestSettings } from './settings.ts';

/** Chunks are short-lived. Scans of 10,000 ads peak at 260 MiB with this limit, at 340 without. */
setFlagsFromString('--max-semi-space-size=8');
setFlagsFromString('--semi-space-growth-factor=1');

await runProcess('ingest', IngestSettings, async ({ settings, resources, log, signal }) => {
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL } = settings;
  await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL, NATS_URL });
  const intake = resources.use(
    await untilServerAnswers(log, signal, 'Postgres, the event store', () =>
      openIntake({
        databaseUrl: DATABASE_URL,
        eventStoreUrl: EVENT_STORE_URL,
        log,
        mediaArchive: settings.MEDIA_ARCHIVE,
      }),
    ),
  );
  const nats = resources.use(
    await untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'ingest', settings)),
  );
  const running = consumeAsLeader({
    nats,
    intake,
    log,
    signal,
    concurrency: settings.INGEST_LANES,
    databaseUrl: DATABASE_URL,
  });
  resources.defer(() => running);
  operatorPort.started();
});
