import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { openNats } from '#platform/nats.ts';
import { openOperatorPort, operatorPortSettings } from '#platform/operator-port.ts';
import { runProcess } from '#platform/process.ts';
import { untilServersAnswer } from '#platform/retry.ts';
import { consumeWhileOwner } from './consumer-ownership.ts';
import { openIntake } from './open-intake.ts';

/**
 * Chunks of a scan are garbage within milliseconds of their arrival; a young generation that grows to hold many
 * costs memory and saves little. Scans of 10,000 ads take 260 MiB with it and 340 without.
 */
setFlagsFromString('--max-semi-space-size=8');
setFlagsFromString('--semi-space-growth-factor=1');

const settings = readSettings(
  z.object({
    ...serverSettings,
    ...operatorPortSettings,
    /** Brands worked on at once. One brand's observations keep their order; with 1, those of all brands do. */
    INGEST_LANES: z.coerce.number().int().min(1).max(64).default(6),
  }),
);

await runProcess(createLog('ingest', settings.LOG_LEVEL), async ({ resources, log, signal }) => {
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  const intake = resources.use(
    await untilServersAnswer(log, signal, () =>
      openIntake({ databaseUrl: settings.DATABASE_URL, eventStoreUrl: settings.EVENT_STORE_URL }),
    ),
  );
  const nats = resources.use(
    await untilServersAnswer(log, signal, () => openNats(settings.NATS_URL, 'ingest')),
  );
  const running = consumeWhileOwner({
    nats,
    intake,
    log,
    signal,
    lanes: settings.INGEST_LANES,
    databaseUrl: settings.DATABASE_URL,
  });
  resources.defer(() => running);
  operatorPort.started();
});
