import { UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { shortenAd } from '#contracts/observations/shorten-ad.ts';
import { type FileItem, isShortened, Progress, refusedFile, refusedItem } from './file-item.ts';
import { brokenJson } from '../readers/parsing/json-faults.ts';
import { jsonRecords } from '../readers/parsing/json-records.ts';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { placesOf } from '../readers/shapes/record-format.ts';
import { refusal } from '../readers/record.ts';
import { openSource } from '../readers/parsing/open-source.ts';

export async function* readObservations(path: string): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const plan = { header: null };
  const progress = new Progress(source);
  for await (const item of jsonRecords(source, placesOf('observations'))) {
    if (item.kind === 'envelope') continue;
    yield* progress.tick(1);
    if (item.kind === 'broken') {
      yield refusedItem(path, plan, { ...brokenJson(item), number: item.number });
      continue;
    }
    const { line, raw } = item;
    const parsed = Observation.safeParse(item.value);
    const issue = parsed.error?.issues[0];
    if (!parsed.success || Buffer.byteLength(raw) > OBSERVATION_MAX_BYTES) {
      const what =
        issue === undefined
          ? `is longer than ${OBSERVATION_MAX_BYTES} bytes`
          : `${issue.path.join('.')}: ${issue.message}`;
      const advice = 'fix the observation and import it again';
      yield refusedItem(path, plan, refusal({ line, raw, number: item.number }, what, advice));
    } else {
      if (parsed.data.type === 'ad_library.scan') yield* shortenedAds(line, item.value);
      yield { kind: 'observation', observation: parsed.data };
    }
  }
  yield* progress.end();
  const damage = source.damage();
  if (damage !== null) yield refusedFile(path, { what: damage, advice: 'fetch the file again' });
}

function* shortenedAds(line: number, chunk: JsonObject): Generator<FileItem> {
  for (const value of chunk['ads'] as readonly unknown[]) {
    const { ad, shortened } = shortenAd(UncutAd.parse(value));
    if (isShortened(shortened)) yield { kind: 'shortened', line, adId: ad.ad_id, shortened };
  }
}
