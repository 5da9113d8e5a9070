import { hash } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import { doubtedPages } from '#domain/collecting/archive-coverage.ts';
import { afterGoodPage, halvedPage } from '#domain/collecting/pace.ts';
import { isObject } from '#domain/shapes/json-object.ts';
import { libraryAdOf } from '#domain/shapes/library-ad.ts';
import type { OpenBatch } from '../schedule/target-store.ts';
import { type ArchiveCursor, type ArchivePass, atList, firstCursor, groupsOf } from './archive-client.ts';
import { adsByPage, type ArchiveScan, archiveScanOf, type PageAd, spooledAnswers } from './archive-scan.ts';
import type { AccountAnswer, PacedAccount } from './paced-account.ts';

const TRIES_MAX = 5;
const TRY_FIRST_MS = 10 * SECOND_MS;
const TRY_MAX_MS = 5 * MINUTE_MS;
const DOUBT_MS = HOUR_MS;
/** Margin before `stopsSince`: the library shows ends late. */
const STOPS_BEFORE_MS = 2 * DAY_MS;

export type ArchiveReading = {
  readonly batch: Pick<OpenBatch<ArchiveCursor>, 'startedAt' | 'cursor' | 'commit' | 'pages'>;
  readonly pageIds: readonly string[];
  readonly countries: readonly string[];
  readonly adsBefore: ReadonlyMap<string, number>;
  /** Time since which known ads may have ended; `null` before the first scan, which reads no ended ads. */
  readonly stopsSince: Date | null;
  readonly account: Pick<PacedAccount, 'call'>;
  readonly endsMs: number;
  readonly now: () => Date;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

export type ArchiveOutcome =
  | { readonly kind: 'read'; readonly scan: ArchiveScan }
  /** Continues at `untilMs`, or with backoff when it is `null`. `off`: needs an operator. */
  | {
      readonly kind: 'wait';
      readonly cause: 'fault' | 'shut' | 'off' | 'doubted';
      readonly untilMs: number | null;
      readonly detail: string;
    };

type Waiting = Extract<ArchiveOutcome, { readonly kind: 'wait' }>;
/** The committed cursor, or the reason to wait. */
type Step = { readonly cursor: ArchiveCursor } | { readonly outcome: Waiting };
type Page = Extract<AccountAnswer, { readonly kind: 'page' }>;
export type Reading = ArchiveCursor & { readonly pass: ArchivePass };

const hashOf = (after: string): string => hash('sha256', after).slice(0, 16);

const commit = async ({ batch }: ArchiveReading, cursor: ArchiveCursor): Promise<Step> => {
  await batch.commit(cursor, null);
  return { cursor };
};

/** Skips ended ads: after two scans without them, ads end anyway. */
const skipStops = (reading: ArchiveReading, cursor: ArchiveCursor, reason: string): Promise<Step> =>
  commit(reading, atList(cursor, { groups: [], stopsSkipped: reason }));

const nextPass = async (reading: ArchiveReading, cursor: Reading): Promise<Step> => {
  const { batch, pageIds, adsBefore, stopsSince, now } = reading;
  const asked = pageIds.filter((id) => !cursor.refusedPages.some(({ page_id }) => page_id === id));
  if (cursor.pass === 'doubted') return commit(reading, atList(cursor, { pass: 'done' }));
  if (cursor.pass === 'inactive') {
    return commit(reading, atList(cursor, { pass: 'doubted', groups: cursor.doubted.map((id) => [id]) }));
  }
  const doubted = doubtedPages(asked, adsBefore, adsByPage(await spooledAnswers(batch)));
  const groups = stopsSince === null ? [] : groupsOf(asked);
  const doubtedAtMs = now().getTime() + DOUBT_MS;
  return commit(reading, atList(cursor, { pass: 'inactive', groups, doubted, doubtedAtMs }));
};

/** Retries faults. `reduce` at the smallest page is a fault. */
export const callWithTries = async (
  reading: ArchiveReading,
  cursor: Reading,
  pageIds: readonly string[],
): Promise<AccountAnswer> => {
  const { account, countries, stopsSince, wait, signal } = reading;
  const { pass, size, after } = cursor;
  const since = stopsSince === null ? null : utcDateOfMs(stopsSince.getTime() - STOPS_BEFORE_MS);
  for (let tries = 1; ; tries += 1) {
    const answer = await account.call({ pass, pageIds, countries, since, limit: size.limit, after }, signal);
    const isFault = answer.kind === 'fault' || (answer.kind === 'reduce' && halvedPage(size) === null);
    if (!isFault) return answer;
    if (tries === TRIES_MAX) return { kind: 'fault', detail: answer.detail };
    await wait(Math.min(TRY_FIRST_MS * 2 ** (tries - 1), TRY_MAX_MS), signal);
    signal.throwIfAborted();
  }
};

export const mapAnswer = (
  { batch }: Pick<ArchiveReading, 'batch'>,
  pass: ArchivePass,
  pageIds: readonly string[],
  rows: Page['ads'],
) => {
  const scannedOn = utcDate(batch.startedAt.toISOString());
  const scope = { isActive: pass !== 'inactive', scannedOn, pageIds };
  const ads: PageAd[] = [];
  const refused: string[] = [];
  let [cutTexts, leftOut] = [0, 0];
  for (const row of rows) {
    const mapped = libraryAdOf(isObject(row) ? row : {}, scope);
    if ('refused' in mapped) {
      refused.push(mapped.refused);
      continue;
    }
    ads.push(mapped.ad);
    cutTexts += mapped.shortened.texts;
    leftOut += mapped.shortened.entries;
  }
  return { ads, refused, cutTexts, leftOut };
};

/** `seen`: hashes of the cursors of this list. */
const takePage = async (
  reading: ArchiveReading,
  cursor: Reading,
  pageIds: readonly string[],
  { ads: rows, after }: Page,
  seen: Set<string>,
): Promise<Step> => {
  const { pass, list, page, groups } = cursor;
  if (rows.length === 0) return commit(reading, atList(cursor, { groups: groups.slice(1) }));
  const { ads, refused, ...lost } = mapAnswer(reading, pass, pageIds, rows);
  const key = after === null ? null : hashOf(after);
  const looped = key !== null && seen.has(key);
  if (key !== null) seen.add(key);
  const isStops = pass === 'inactive';
  const fault = looped ? 'a cursor came twice' : (refused[0] ?? null);
  const read: ArchiveCursor = {
    ...cursor,
    after,
    page: page + 1,
    size: afterGoodPage(cursor.size),
    looped: cursor.looped || (looped && !isStops),
    refusedAds: cursor.refusedAds + (isStops ? 0 : refused.length),
    refusedReason: cursor.refusedReason ?? (isStops ? null : (refused[0] ?? null)),
    cutTexts: cursor.cutTexts + lost.cutTexts,
    leftOut: cursor.leftOut + lost.leftOut,
    stopsSkipped: cursor.stopsSkipped ?? (isStops ? fault : null),
  };
  const next = after === null || looped ? atList(read, { groups: groups.slice(1) }) : read;
  const text = JSON.stringify({ pass, list, after: key, ads });
  await reading.batch.commit(next, { page, text, validators: { etag: null, lastModified: null } });
  return { cursor: next };
};

/** Halves a group to isolate the page that the library refuses, and then omits it. */
const splitGroup = (
  reading: ArchiveReading,
  cursor: Reading,
  group: readonly string[],
  detail: string,
): Promise<Step> => {
  const rest = cursor.groups.slice(1);
  const middle = Math.ceil(group.length / 2);
  if (group.length > 1) {
    const groups = [group.slice(0, middle), group.slice(middle), ...rest];
    return commit(reading, atList(cursor, { groups }));
  }
  if (cursor.pass === 'inactive') {
    return commit(reading, atList(cursor, { groups: rest, stopsSkipped: cursor.stopsSkipped ?? detail }));
  }
  const refusedPages = [...cursor.refusedPages, { page_id: group[0] as string, message: detail }];
  return commit(reading, atList(cursor, { groups: rest, refusedPages }));
};

const readNext = async (reading: ArchiveReading, cursor: Reading, seen: Set<string>): Promise<Step> => {
  const [group] = cursor.groups;
  if (group === undefined) return nextPass(reading, cursor);
  const isDoubt = cursor.pass === 'doubted';
  if (isDoubt && reading.now().getTime() < cursor.doubtedAtMs) {
    const detail = `pages ${cursor.doubted.join(', ')} have no ads any more, and are read again`;
    return { outcome: { kind: 'wait', cause: 'doubted', untilMs: cursor.doubtedAtMs, detail } };
  }
  const answer = await callWithTries(reading, cursor, group);
  const { kind } = answer;
  const isStops = cursor.pass === 'inactive';
  if (kind === 'page') return takePage(reading, cursor, group, answer, seen);
  if (kind === 'reduce') return commit(reading, { ...cursor, size: halvedPage(cursor.size) ?? cursor.size });
  if (kind === 'invalid') return splitGroup(reading, cursor, group, answer.detail);
  if (kind === 'shut') {
    const { untilMs, detail } = answer;
    return { outcome: { kind: 'wait', cause: 'shut', untilMs, detail } };
  }
  if (isStops) return skipStops(reading, cursor, answer.detail);
  // Before the first reply nothing depends on the token.
  if (kind === 'off' && cursor.page > 0) await reading.batch.commit({ ...cursor, tokenLost: true }, null);
  return { outcome: { kind: 'wait', cause: kind, untilMs: null, detail: answer.detail } };
};

export const readArchive = async (reading: ArchiveReading): Promise<ArchiveOutcome> => {
  const { batch, pageIds, endsMs, now } = reading;
  let cursor = batch.cursor ?? firstCursor(pageIds);
  const answers = batch.cursor === null ? [] : await spooledAnswers(batch);
  const seen = new Set(answers.flatMap(({ list, after }) => (list === cursor.list && after ? [after] : [])));
  while (cursor.pass !== 'done' && now().getTime() < endsMs) {
    const step: Step = await readNext(reading, { ...cursor, pass: cursor.pass }, seen);
    if ('outcome' in step) return step.outcome;
    if (step.cursor.list !== cursor.list) seen.clear();
    ({ cursor } = step);
  }
  return { kind: 'read', scan: await archiveScanOf(batch, cursor) };
};
