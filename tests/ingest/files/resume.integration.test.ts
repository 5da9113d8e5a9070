import { expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ingestFiles, type Report } from '#services/ingest/files/ingest-files.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { adId, ExportFolder, OF_BRAND } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';

const ADS = 600;
const SILENT: Report = { progress: () => undefined, refused: () => undefined, finished: () => undefined };

/** Intake that fails after some observations, as when a server stops. */
const failingAfter = (intake: Intake, count: number): Intake => {
  let submitted = 0;
  return {
    submit: (observation) => {
      submitted += 1;
      return submitted > count
        ? Promise.reject(new Error('connect ECONNREFUSED'))
        : intake.submit(observation);
    },
  };
};

it('an import that was interrupted and is continued in another order of the ads loses no ad', async () => {
  await using stack = await openIntakeStack();
  await using folder = await ExportFolder.open();
  const ads = Array.from({ length: ADS }, (_, number) => webAd(number));
  const inOrder = await folder.file('a.json', JSON.stringify(ads));
  const reversed = await folder.file('b.json', JSON.stringify(ads.toReversed()));
  const options = { ...OF_BRAND, refusedDirectory: folder.path };
  const startedAds = async (): Promise<readonly string[]> => {
    const started: string[] = [];
    const stream = adLibraryStream(brandIdOf(OF_BRAND.brand ?? ''));
    for await (const event of stack.eventStore.read<AdLibraryEvent>(stream))
      if (event.type === 'AdStarted') started.push(event.data.ad_id);
    return started.toSorted();
  };
  const all = Array.from({ length: ADS }, (_, number) => adId(number)).toSorted();

  await expect(ingestFiles([inOrder], options, failingAfter(stack.intake, 2), SILENT)).rejects.toThrow(
    'ECONNREFUSED',
  );
  expect(await startedAds()).toEqual([]);
  const [totals] = await ingestFiles([reversed], options, stack.intake, SILENT);
  expect(totals).toMatchObject({ ads: ADS, scans: 1, refused: 0, scanned: { baseline: ADS } });
  expect(await startedAds()).toEqual(all);

  // The staged chunks of the first order are used, and no ad starts twice.
  await ingestFiles([inOrder], options, stack.intake, SILENT);
  expect(await startedAds()).toEqual(all);
});
