import { z } from 'zod';
import { readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { openNats } from '#platform/nats.ts';
import { runProcess } from '#platform/process.ts';
import { untilServersAnswer } from '#platform/retry.ts';
import { consumeObservations } from './consumer.ts';
import { openIntake } from './open-intake.ts';

const settings = readSettings(z.object(serverSettings));

await runProcess(createLog('ingest', settings.LOG_LEVEL), async ({ resources, log, signal }) => {
  const intake = resources.use(
    await untilServersAnswer(log, signal, () =>
      openIntake({ databaseUrl: settings.DATABASE_URL, eventStoreUrl: settings.EVENT_STORE_URL }),
    ),
  );
  const nats = resources.use(
    await untilServersAnswer(log, signal, () => openNats(settings.NATS_URL, 'ingest')),
  );
  resources.use(await consumeObservations(nats, intake, log));
  log.info({}, 'taking in observations');
});
