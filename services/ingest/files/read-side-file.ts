import {
  keyOf as observationKey,
  Observation,
  OBSERVATION_MAX_BYTES,
} from '#contracts/observations/index.ts';
import { type FileItem, Progress, refusedFile, refusedItem } from './file-item.ts';
import { refusal, type RefusedRecord } from '../readers/record.ts';
import { NO_TIME } from '../readers/scan-key.ts';
import type { SideContext, SideObservation, SideReader } from '../readers/side-record.ts';
import { openSource } from '../readers/parsing/open-source.ts';

const UNTIMED_RECORDS_MAX = 1_000;

export type SidePlan = { readonly side: SideReader; readonly context: SideContext };

/** One pass: these observations need no data from the end of the file. */
export async function* readSideFile(path: string, { side, context }: SidePlan): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const plan: { header: string | null } = { header: null };
  const progress = new Progress(source);
  const untimed = new UntimedRecords();
  for await (const record of side(source, context)) {
    if (record.kind === 'header') {
      plan.header = record.raw;
      continue;
    }
    yield* progress.tick(1);
    if (record.kind === 'refused' && untimed.hold(record)) {
      if (untimed.held.length < UNTIMED_RECORDS_MAX) continue;
      break;
    }
    if (record.kind === 'observation') {
      for (const held of untimed.release()) yield refusedItem(path, plan, held);
      for (const reason of record.notes ?? [])
        yield { kind: 'noted', line: record.line, reason, name: observationKey(record.observation) };
      yield validated(path, plan, record);
    } else {
      yield record.kind === 'refused' ? refusedItem(path, plan, record) : record;
    }
  }
  if (untimed.held.length > 0) yield refusedFile(path, NO_COLLECTION_TIME);
  const damage = source.damage();
  if (damage !== null) {
    const advice = 'fetch the file again; the records before the damage are kept';
    yield refusedFile(path, { what: damage, advice });
  }
  yield* progress.end();
}

const NO_COLLECTION_TIME = { what: 'has no collection time', advice: NO_TIME.advice };

/** Holds refusals back until a record has a time, so that a file without any is refused in one line. */
class UntimedRecords {
  held: RefusedRecord[] = [];
  #released = false;

  hold(record: RefusedRecord): boolean {
    if (this.#released || record.what !== NO_TIME.what) return false;
    this.held.push(record);
    return true;
  }

  release(): readonly RefusedRecord[] {
    const { held } = this;
    this.held = [];
    this.#released = true;
    return held;
  }
}

/** Validates where the line of the record is known. */
const validated = (path: string, plan: { header: string | null }, record: SideObservation): FileItem => {
  const refuse = (what: string, advice: string): FileItem =>
    refusedItem(path, plan, refusal(record, what, advice));
  const parsed = Observation.safeParse(record.observation);
  const issue = parsed.error?.issues[0];
  if (issue) return refuse(`${issue.path.join('.')}: ${issue.message}`, 'fix the record and import it again');
  if (Buffer.byteLength(JSON.stringify(parsed.data)) > OBSERVATION_MAX_BYTES)
    return refuse(`is longer than ${OBSERVATION_MAX_BYTES} bytes`, 'split the record');
  return { kind: 'observation', observation: parsed.data as Observation };
};
