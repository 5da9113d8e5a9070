import { adsBeforeKnown, isNewestFirst } from '#domain/collecting/looks.ts';
import { halvedPage } from '#domain/collecting/page-size.ts';
import { type ArchiveCursor, atList, firstCursor } from './archive-cursor.ts';
import { type ArchiveScan, archiveScanOf } from './archive-scan.ts';
import { type ArchiveReading, callWithTries, mapAnswer, type Reading } from './read-archive.ts';

export type LookOutcome =
  /** `scan` holds new ads only and is never complete. */
  | { readonly kind: 'looked'; readonly scan: ArchiveScan; readonly isNewestFirst: boolean }
  | { readonly kind: 'missed'; readonly detail: string };

const committed = async (
  reading: ArchiveReading,
  cursor: ArchiveCursor,
): Promise<Extract<LookOutcome, { readonly kind: 'looked' }>> => {
  const scan = await archiveScanOf(reading.batch, cursor);
  return { kind: 'looked', scan: { ...scan, complete: false }, isNewestFirst: true };
};

/** `known`: ads of earlier scans, by page. */
export const readLook = async (
  reading: ArchiveReading,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<LookOutcome> => {
  const { batch, pageIds } = reading;
  if (batch.cursor !== null) return committed(reading, batch.cursor);
  let cursor: Reading = { ...firstCursor(pageIds), pass: 'active' };
  let answer = await callWithTries(reading, cursor, pageIds);
  for (let half = halvedPage(cursor.size); answer.kind === 'reduce' && half !== null; ) {
    cursor = { ...cursor, size: half };
    answer = await callWithTries(reading, cursor, pageIds);
    half = halvedPage(half);
  }
  if (answer.kind !== 'page') return { kind: 'missed', detail: answer.detail };
  const { ads } = mapAnswer(reading, 'active', pageIds, answer.ads);
  const inOrder = isNewestFirst(ads.map(({ started_on }) => started_on));
  const found = inOrder ? adsBeforeKnown(ads, known) : ads;
  const next = atList(cursor, { pass: 'done', groups: [], page: 1 });
  const text = JSON.stringify({ pass: 'active', list: 0, after: null, ads: found });
  await batch.commit(next, { page: 0, text, validators: { etag: null, lastModified: null } });
  return { ...(await committed(reading, next)), isNewestFirst: inOrder };
};
