import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { type FileItem, refusedItem } from './file-item.ts';
import { brokenJson } from '../readers/parsing/json-faults.ts';
import { jsonRecords } from '../readers/parsing/json-records.ts';
import { openSource } from '../readers/parsing/open-source.ts';

/** Reads a file of this service's own observations, one JSON object each, and validates them. */
export async function* readObservations(path: string): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const plan = { header: null };
  let records = 0;
  for await (const item of jsonRecords(source)) {
    if (item.kind === 'broken') {
      yield refusedItem(path, plan, brokenJson(item));
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
      yield refusedItem(path, plan, {
        kind: 'refused',
        line,
        what,
        advice: 'fix the observation and import it again',
        raw,
        adId: null,
      });
    } else {
      yield { kind: 'observation', observation: parsed.data };
    }
    records += 1;
    yield { kind: 'progress', bytesRead: source.bytesRead(), bytesTotal: source.bytesTotal, records };
  }
  const damage = source.damage();
  if (damage === null) return;
  yield refusedItem(path, plan, {
    kind: 'refused',
    line: 1,
    what: damage,
    advice: 'fetch the file again',
    raw: null,
    adId: null,
  });
}
