import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { type FileItem, refusedItem } from './file-item.ts';
import type { SideContext, SideObservation, SideReader } from '../readers/side-record.ts';
import { openSource } from '../readers/parsing/open-source.ts';

/** Minimum bytes read between two progress items. */
const PROGRESS_BYTES = 1024 * 1024;
/** Line reported for faults of the whole file. */
const WHOLE_FILE_LINE = 1;

/** Plan for reading a side file: a file without library scans. */
export type SidePlan = { readonly side: SideReader; readonly context: SideContext };

/** Reads a side file in one pass. Its observations need no data from the end of the file, unlike library scans. */
export async function* readSideFile(path: string, { side, context }: SidePlan): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const plan: { header: string | null } = { header: null };
  let records = 0;
  let shownBytes = 0;
  const progress = (): FileItem => {
    shownBytes = source.bytesRead();
    return { kind: 'progress', bytesRead: shownBytes, bytesTotal: source.bytesTotal, records };
  };
  for await (const record of side(source, context)) {
    if (record.kind === 'header') {
      plan.header = record.raw;
      continue;
    }
    records += 1;
    if (record.kind === 'refused') yield refusedItem(path, plan, record);
    else if (record.kind === 'observation') yield validated(path, plan, record);
    if (source.bytesRead() - shownBytes >= PROGRESS_BYTES) yield progress();
  }
  const damage = source.damage();
  if (damage !== null) {
    const advice = 'fetch the file again; the records before the damage are kept';
    yield refusedItem(path, plan, {
      kind: 'refused',
      line: WHOLE_FILE_LINE,
      what: damage,
      advice,
      raw: null,
      adId: null,
    });
  }
  yield progress();
}

/** Validates an observation here, where the line of its record is available. Returns a refusal when it is invalid. */
const validated = (path: string, plan: { header: string | null }, record: SideObservation): FileItem => {
  const { line, raw } = record;
  const refuse = (what: string, advice: string): FileItem =>
    refusedItem(path, plan, { kind: 'refused', line, what, advice, raw, adId: null });
  const parsed = Observation.safeParse(record.observation);
  const issue = parsed.error?.issues[0];
  if (issue) return refuse(`${issue.path.join('.')}: ${issue.message}`, 'fix the record and import it again');
  if (Buffer.byteLength(JSON.stringify(parsed.data)) > OBSERVATION_MAX_BYTES)
    return refuse(`is longer than ${OBSERVATION_MAX_BYTES} bytes`, 'split the record');
  return { kind: 'observation', observation: parsed.data as Observation };
};
