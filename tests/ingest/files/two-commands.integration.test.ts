import { once } from 'node:events';
import { expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { adId, ExportFolder } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';

const BRAND = 'lumen-socks.example';
/** Ads of a scan: more than one append, so that the other command can append in between. */
const ADS = 600;
const DAYS = [1, 2, 3];
const LIMIT_MS = 180_000;

it(
  'two commands that import one brand at the same time record each scan and ad once',
  async () => {
    await using own = new AsyncDisposableStack();
    const stack = own.use(await openIntakeStack());
    const database = openPool(stack.databaseUrl, 2);
    own.defer(() => database.end());
    const folder = own.use(await ExportFolder.open());
    // Half of the 600 ads are new.
    const [first = '', second = '', third = ''] = await Promise.all(
      DAYS.map((day) =>
        folder.file(
          `lumen-2026-03-0${day}T0800Z.json`,
          JSON.stringify(Array.from({ length: ADS }, (_, ad) => webAd((day * ADS) / 2 + ad))),
        ),
      ),
    );
    const servers = { DATABASE_URL: stack.databaseUrl, EVENT_STORE_URL: stack.eventStoreUrl };
    const options = ['--brand', BRAND, '--complete', '--countries', 'US', '--refused-dir', folder.path];
    const commands = [
      [first, third],
      [third, second, first],
    ].map((files) => startProcess('services/ingest/cli.ts', servers, [...files, ...options]));
    for (const command of commands) own.defer(() => command.kill());
    for (const command of commands) {
      if (command.child.exitCode === null) await once(command.child, 'exit');
      expect(command.child.exitCode, command.output()).toBe(0);
    }

    const scans: string[] = [];
    const started: string[] = [];
    for await (const { type, data } of stack.eventStore.read<AdLibraryEvent>(
      adLibraryStream(brandIdOf(BRAND)),
    )) {
      if (type === 'ScanRecorded') scans.push(data.observed_at);
      if (type === 'AdStarted') started.push(data.ad_id);
    }
    expect(scans.toSorted()).toEqual(DAYS.map((day) => `2026-03-0${day}T08:00:00.000Z`));
    expect(new Set(started).size, 'no ad starts twice').toBe(started.length);

    const tables = async () => {
      const ads = await database.query<{ ad_id: string; digest: string }>(
        'select ad_id, md5(known::text) as digest from ingest.ad order by ad_id collate "C"',
      );
      const libraries = await database.query('select * from ingest.library');
      const recorded = await database.query('select * from ingest.recorded_scan order by scan_id');
      return { ads: ads.rows, libraries: libraries.rows, recorded: recorded.rows };
    };
    const written = await tables();
    const shown = Array.from({ length: (ADS / 2) * (DAYS.length + 1) }, (_, ad) => adId(ADS / 2 + ad));
    expect(written.ads.map(({ ad_id }) => ad_id)).toEqual(shown.toSorted());
    await database.query('drop schema ingest cascade');
    await (await openIntake(stack))[Symbol.asyncDispose]();
    expect(await tables(), 'as folded from the log').toEqual(written);
  },
  LIMIT_MS,
);
