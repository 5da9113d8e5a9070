import { createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { systemClock } from '#platform/clock.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { runArchive } from './archive.ts';
import { openSpoolFolder } from './archive-file.ts';
import { openVideoTools } from './measure.ts';
import { MediaSettings } from './settings.ts';

const POOL_CLIENTS = 8;
/** Each image uses up to 400 MB while it is decoded. */
const DECODED_AT_ONCE = 1;

await runProcess('media', MediaSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, NATS_URL, COLLECT_VIA, COLLECT_CONTACT, MEDIA_ARCHIVE } = settings;
  const { EGRESS_ALLOW_LOOPBACK, EGRESS_OWN_ADDRESSES } = settings;
  if (COLLECT_VIA !== undefined && !EGRESS_ALLOW_LOOPBACK) {
    throw new Error('COLLECT_VIA needs EGRESS_ALLOW_LOOPBACK=true, because it sends requests to loopback.');
  }
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  await waitForServers(log, signal, { DATABASE_URL, NATS_URL });
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  await untilServerAnswers(log, signal, 'Postgres', () => createArchiveTables(database));
  const nats = resources.use(
    await untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'media', settings)),
  );
  await openSpoolFolder(Date.now());
  const egress = resources.use(
    openEgress({ allowLoopback: EGRESS_ALLOW_LOOPBACK, ownAddresses: EGRESS_OWN_ADDRESSES }),
  );
  const contact = COLLECT_CONTACT === undefined ? '' : ` (+${COLLECT_CONTACT})`;
  const running = runArchive({
    database,
    nats,
    objectStore: await openObjectStore(settings),
    downloader: {
      egress,
      via: COLLECT_VIA ?? null,
      userAgent: `ad-intelligence/${packageJson.version}${contact}`,
    },
    videoTools: openVideoTools(),
    decoding: createSemaphore(DECODED_AT_ONCE),
    mode: MEDIA_ARCHIVE,
    quotaBytes: settings.MEDIA_QUOTA_BYTES,
    keepDays: settings.MEDIA_KEEP_DAYS ?? null,
    clock: systemClock,
    log,
    signal,
  });
  resources.defer(() => running);
  operatorPort.started();
  log.info({ archive: MEDIA_ARCHIVE }, 'media archive started');
});
