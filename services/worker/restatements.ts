import { CsvError } from 'csv-parse';
import { createHash } from 'node:crypto';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { briefStream } from '#contracts/events/workspace/brief.ts';
import { reportStream } from '#contracts/events/workspace/report.ts';
import {
  RESTATED_CAUSES_MAX,
  RESTATED_ROWS_MAX,
  type RestatedCause,
  type RestatedRow,
} from '#contracts/events/workspace/restated.ts';
import { REPORT_COLUMNS } from '#contracts/resources/workspace/report.ts';
import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { brief, restateBrief } from '#domain/workspace/brief.ts';
import { report, restateReport } from '#domain/workspace/report.ts';
import {
  type Compared,
  type DocumentRow,
  findDifference,
  rowKey,
  type Told,
  toldCells,
} from '#domain/workspace/restatement.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { listBriefsMadeSince } from '#projections/briefs/read.ts';
import { type ChangedDay, listChangedDays } from '#projections/radar/read.ts';
import { listReportsReadySince } from '#projections/reports/read.ts';
import { readDeliveredRows, readPresentRows, type ReportCells } from './reports/radar-csv.ts';
import { appendDecided, type JobDependencies, scheduleRetried, waitUntilProjected } from './retried-job.ts';
import { readWeek } from './weekly-briefs.ts';

/** Compares delivered briefs and reports with the radar, and restates them when late scans have changed rows. */

/** Documents made earlier are not compared. */
export const RESTATED_DAYS = 35;
/** Restatements of a document in one run. Later runs go on while its days change. */
const RESTATEMENTS_MAX = 50;
/** Newest events of a brand among which those about a row are looked for. */
const EVENTS_READ_MAX = 1_000;
/** Read models that must have passed the end of the log. */
const READ_MODELS = ['radar', 'briefs', 'reports'];
const BRIEF_COLUMNS = ['ads_started', 'ads_stopped', 'destinations_changed'] as const;
/** The name of a brand is not observed by a scan. */
const REPORT_COLUMNS_COMPARED = REPORT_COLUMNS.filter(
  (column) => column !== 'brand_slug' && column !== 'brand_name',
);

export type RestatementDependencies = JobDependencies & {
  readonly objectStore: Pick<ObjectStore, 'open'>;
  /** For lists of all workspaces, which have more time. */
  readonly database: Pick<Database, 'query'>;
};

type Document = {
  readonly workspace_id: string;
  readonly id: string;
  readonly from: string;
  readonly to: string;
};
type Pair = readonly [delivered: DocumentRow | undefined, present: DocumentRow | undefined];
type Difference = Omit<RestatedRow, 'causes'>;
type Differences = Pick<Compared, 'rows_total'> & { readonly rows: readonly Difference[] };

/** Keeps only the first rows that differ in memory. */
const compare = async (
  pairs: AsyncIterable<Pair> | Iterable<Pair>,
  told: Told | null,
  columns: readonly string[],
): Promise<Differences> => {
  const untouched = new Set(Object.keys(told?.rows ?? {}));
  const rows: Difference[] = [];
  let rows_total = 0;
  const take = (key: string, delivered: DocumentRow | undefined, present: DocumentRow | undefined): void => {
    const before = toldCells(told, key, delivered?.cells);
    const difference = findDifference(before, present?.cells, columns);
    if (difference === null) return;
    rows_total += 1;
    if (rows.length >= RESTATED_ROWS_MAX) return;
    const [brand_id = '', item_id = ''] = key.split(' ');
    const adId = (present?.cells ?? before)?.['ad_id'];
    rows.push({
      brand_id,
      item_id: item_id === '' ? null : item_id,
      ad_id: adId === undefined ? null : String(adId),
      ...difference,
    });
  };
  for await (const [delivered, present] of pairs) {
    const key = rowKey((delivered ?? present) as DocumentRow);
    untouched.delete(key);
    take(key, delivered, present);
  }
  // Rows that a restatement added and that are gone.
  for (const key of untouched) take(key, undefined, undefined);
  return { rows_total, rows };
};

/** With all digits of the fraction, which a `Date` cuts. */
const timeOf = ({ observed_at }: Pick<ReportCells, 'observed_at'>): string => {
  const [, fraction = ''] = /\.(\d+)/.exec(observed_at) ?? [];
  return `${new Date(observed_at).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}.${fraction.padEnd(6, '0')}`;
};

/** Sorts as the file does: by the places of brands, newest first, then by id. */
const precedes = (one: ReportCells, other: ReportCells, places: ReadonlyMap<string, number>): number => {
  const place = (places.get(one.brand_id) ?? -1) - (places.get(other.brand_id) ?? -1);
  if (place !== 0) return place;
  const [time, otherTime] = [timeOf(one), timeOf(other)];
  if (time !== otherTime) return time > otherTime ? -1 : 1;
  return one.item_id === other.item_id ? 0 : one.item_id > other.item_id ? -1 : 1;
};

const documentRow = (cells: ReportCells | undefined): DocumentRow | undefined =>
  cells && { brand_id: cells.brand_id, item_id: cells.item_id, cells };

/** Merges rows of the same order. Neither side is held. */
const mergeRows = async function* (
  delivered: AsyncGenerator<ReportCells>,
  present: AsyncGenerator<ReportCells>,
  places: ReadonlyMap<string, number>,
): AsyncGenerator<Pair> {
  try {
    let [left, right] = [await delivered.next(), await present.next()];
    while (!left.done || !right.done) {
      const order = left.done ? 1 : right.done ? -1 : precedes(left.value, right.value, places);
      yield [
        documentRow(order <= 0 && !left.done ? left.value : undefined),
        documentRow(order >= 0 && !right.done ? right.value : undefined),
      ];
      if (order <= 0) left = await delivered.next();
      if (order >= 0) right = await present.next();
    }
  } finally {
    await Promise.all([delivered.return(undefined), present.return(undefined)]);
  }
};

/** Leaves out rows observed after the file was ready: they do not correct it. */
const observedBy = async function* (
  rows: AsyncGenerator<ReportCells>,
  until: number,
  signal: AbortSignal,
): AsyncGenerator<ReportCells> {
  for await (const row of rows) {
    signal.throwIfAborted();
    if (Date.parse(row.observed_at) < until) yield row;
  }
};

type IsAbout = (event: RecordedEvent<AdLibraryEvent>) => boolean;

const causeOf = ({
  stream,
  revision,
  type,
  recordedAt,
  data,
}: RecordedEvent<AdLibraryEvent>): RestatedCause => ({
  stream,
  revision: Number(revision),
  type,
  recorded_at: recordedAt.toISOString(),
  observed_at: data.observed_at,
});

/** Adds the events recorded after `since` that say what the row is about. */
const withCauses = async (
  { eventStore }: RestatementDependencies,
  { rows, ...differences }: Differences,
  since: string,
  isAboutRow: (row: Difference) => IsAbout,
): Promise<Pick<Compared, 'rows' | 'rows_total'>> => {
  const brands = Map.groupBy(rows, ({ brand_id }) => brand_id);
  const causes = new Map<Difference, readonly RestatedCause[]>();
  for (const [brandId, ofBrand] of brands) {
    const newest = await eventStore.newest<AdLibraryEvent>(adLibraryStream(brandId), EVENTS_READ_MAX);
    const recent = newest.filter(
      ({ recordedAt, unreadable }) => unreadable === undefined && recordedAt.toISOString() > since,
    );
    for (const row of ofBrand)
      causes.set(row, recent.filter(isAboutRow(row)).slice(0, RESTATED_CAUSES_MAX).map(causeOf));
  }
  return { ...differences, rows: rows.map((row) => ({ ...row, causes: causes.get(row) ?? [] })) };
};

/** The radar has an item of the event, or had one, in the days. */
const isNewsOf =
  ({ from, to }: Document): IsAbout =>
  ({ type, data }) => {
    const isWithin = (time: string): boolean => utcDate(time) >= from && utcDate(time) <= to;
    switch (type) {
      case 'AdStarted':
        return data.novelty === 'news' && isWithin(data.observed_at);
      case 'AdConfirmedInactive':
        return data.news && isWithin(data.observed_at);
      case 'AdDestinationChanged':
        return isWithin(data.observed_at);
      case 'AdObservationCorrected':
        return [...data.withdrawn, ...data.added].some(({ observed_at }) => isWithin(observed_at));
      default:
        return false;
    }
  };

const isOfAd =
  ({ ad_id }: Difference): IsAbout =>
  ({ type, data }) => {
    switch (type) {
      case 'AdStarted':
      case 'AdConfirmedInactive':
      case 'AdDestinationChanged':
      case 'AdObservationCorrected':
      case 'AdAttributed':
        return data.ad_id === ad_id;
      default:
        return false;
    }
  };

/** By brand; `null` for ads that moved, whose rows may have been in documents about any brand. */
type Changes = ReadonlyMap<string | null, readonly ChangedDay[]>;

const isTouched = ({ from, to }: Document, brandIds: readonly string[], changes: Changes): boolean =>
  [null, ...brandIds].some((id) => changes.get(id)?.some(({ date }) => date >= from && date <= to));

const restateOneBrief = async (
  dependencies: RestatementDependencies,
  document: Document,
  changes: Changes,
): Promise<number> => {
  const { db, eventStore, clock } = dependencies;
  const { workspace_id, id } = document;
  const stream = briefStream(workspace_id, id);
  const { state } = await eventStore.load(stream, brief);
  if (state === null) return 0;
  const { prepared, told } = state;
  const brandIds = prepared.brands.map(({ brand_id }) => brand_id);
  if (!isTouched(document, brandIds, changes)) return 0;
  const restated_at = clock.now().toISOString();
  const rowOf = ({ brand_id, ...cells }: (typeof prepared.brands)[number]): DocumentRow => ({
    brand_id,
    item_id: null,
    cells,
  });
  const present = new Map((await readWeek(db, prepared, brandIds)).brands.map((one) => [one.brand_id, one]));
  const pairs = prepared.brands.map((one): Pair => [rowOf(one), rowOf(present.get(one.brand_id) ?? one)]);
  const compared = await compare(pairs, told, BRIEF_COLUMNS);
  const since = told?.restated_at ?? prepared.prepared_at;
  const named = await withCauses(dependencies, compared, since, () => isNewsOf(document));
  const decision = restateBrief({ ...named, after: told?.restatements ?? 0, restated_at });
  return await appendDecided(dependencies, workspace_id, { stream, decider: brief, decision });
};

const restateOneReport = async (
  dependencies: RestatementDependencies,
  document: Document,
  changes: Changes,
  signal: AbortSignal,
): Promise<number> => {
  const { db, eventStore, objectStore, clock, log } = dependencies;
  const { workspace_id, id } = document;
  const stream = reportStream(workspace_id, id);
  const { state } = await eventStore.load(stream, report);
  if (!state?.file || !state.finished_at || !state.started_at) return 0;
  const { request, told, file } = state;
  if (!isTouched(document, request.brand_ids, changes)) return 0;
  const delivered = await objectStore.open(file.object_key);
  if (delivered === null) {
    log.warn({ report_id: id }, 'report not compared; its file is gone');
    return 0;
  }
  const restated_at = clock.now().toISOString();
  const until = Date.parse(state.finished_at);
  const places = new Map(request.brand_ids.map((brandId, place) => [brandId, place]));
  const read = createHash('sha256');
  const pairs = mergeRows(
    observedBy(readDeliveredRows(delivered, read), until, signal),
    observedBy(readPresentRows(db, request), until, signal),
    places,
  );
  const compared = await compare(pairs, told, REPORT_COLUMNS_COMPARED).catch((error: unknown) => {
    if (error instanceof CsvError) return null;
    throw error;
  });
  if (compared === null || read.digest('hex') !== file.sha256) {
    log.warn({ report_id: id }, 'report not compared; its file was altered');
    return 0;
  }
  const since = told?.restated_at ?? state.started_at;
  const named = await withCauses(dependencies, compared, since, isOfAd);
  const decision = restateReport({ ...named, after: told?.restatements ?? 0, restated_at });
  return await appendDecided(dependencies, workspace_id, { stream, decider: report, decision });
};

/**
 * Compares documents whose days changed after a position in the log. Returns the position until which all are compared, which is
 * `after` when one of them failed. Idempotent, also across workers, because each stream has its restatements.
 */
export const restateDocuments = async (
  dependencies: RestatementDependencies,
  after: bigint,
  signal: AbortSignal,
): Promise<bigint> => {
  const { database, clock, log } = dependencies;
  const query = async <Row>({ sql, values }: ReadQuery): Promise<readonly Row[]> =>
    (await database.query(sql, [...values])).rows as Row[];
  const lists: ReadDatabase = { query, slow: query };
  const head = await waitUntilProjected(dependencies, READ_MODELS, signal);
  if (signal.aborted) return after;
  const since = new Date(clock.now().getTime() - RESTATED_DAYS * DAY_MS).toISOString();
  const [briefs, reports] = [
    await listBriefsMadeSince(lists, since),
    await listReportsReadySince(lists, since),
  ];
  const [oldest] = [...briefs, ...reports].map(({ from }) => from).toSorted();
  const days = oldest === undefined ? [] : await listChangedDays(lists, oldest, after);
  const changes = Map.groupBy(days, ({ brand_id }) => brand_id);
  const dates = days.map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [dates[0], dates.at(-1)];
  const mayDiffer = ({ from, to }: Document): boolean => from <= last && to >= first;
  let [restated, failed] = [0, 0];
  const restateEach = async (
    documents: readonly Document[],
    restateOne: (document: Document) => Promise<number>,
  ): Promise<void> => {
    for (const document of documents.filter(mayDiffer)) {
      if (signal.aborted) return;
      try {
        // Each restatement has the first rows that differ.
        for (let event = 0; event < RESTATEMENTS_MAX && (await restateOne(document)) > 0; event += 1)
          restated += 1;
      } catch (error) {
        // A document that cannot be compared must not hold up the others.
        failed += 1;
        if (!signal.aborted) log.warn({ err: error, document_id: document.id }, 'document not compared');
      }
    }
  };
  await restateEach(briefs, (one) => restateOneBrief(dependencies, one, changes));
  await restateEach(reports, (one) => restateOneReport(dependencies, one, changes, signal));
  if (restated > 0) log.info({ documents: restated }, 'documents restated');
  return signal.aborted || failed > 0 ? after : head;
};

/**
 * Runs compare what changed since the run before the last, because an export that was running then is in no list of its time.
 * The first two runs of a process compare all documents.
 */
export const scheduleRestatements = (
  { cron, ...dependencies }: RestatementDependencies & { readonly cron: string },
  signal: AbortSignal,
): AsyncDisposable => {
  let [before, last] = [0n, 0n];
  const failure = 'comparison of delivered documents failed; retrying';
  return scheduleRetried({ cron, failure, log: dependencies.log, signal }, async () => {
    const reached = await restateDocuments(dependencies, before, signal);
    if (reached > before) [before, last] = [last, reached];
  });
};
