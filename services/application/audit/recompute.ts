import type { z } from 'zod';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { requireReadable, upcast } from '#contracts/events/schema-registry.ts';
import {
  type FigureStatement,
  ProofEvent,
  type ProofStatement,
  type RadarStatement,
} from '#contracts/audit/proof.ts';
import { type AdFacts, readAdFacts } from '#contracts/audit/ad-facts.ts';
import { isCounted } from '#contracts/audit/check-proof.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { FIGURES } from '#contracts/values/figures.ts';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import type { Ad } from '#contracts/resources/corpus/ads/ad.ts';
import type { RadarItem } from '#contracts/resources/workspace/radar.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { findAd } from '#projections/ads/read.ts';
import { READ_MODELS_OF_FIGURES, readFigure } from '#projections/queries/figures.ts';
import { findRadarItem, type FoundRadarItem } from '#projections/radar/read.ts';
import { explainDelivery } from '../alerts/explain-delivery.ts';
import { streamsOfBrand } from '../as-of/event-streams.ts';
import { openPastReads, type PastReads } from '../as-of/past-reads.ts';

/** Computes what a bundle states again, from its events alone. */

const toRecordedEvent = (line: ProofEvent, position: bigint): RecordedEvent =>
  requireReadable(
    upcast({
      type: line.type,
      data: JSON.parse(line.data) as unknown,
      stream: line.stream,
      revision: BigInt(line.revision),
      position,
      recordedAt: new Date(line.recorded_at),
      id: line.id,
      metadata: { schema_version: line.schema_version ?? undefined } as unknown as RecordedEvent['metadata'],
    }),
  );

/** Reads the bundle once for each stream, so that it is never in memory as a whole. Notes the streams that it lacks, and those read. */
const bundleEvents = (
  { streams }: ProofStatement,
  lines: () => AsyncIterable<string>,
  { absent, read }: { readonly absent: Set<string>; readonly read: Set<string> },
): Pick<EventStore, 'read'> => ({
  read: async function* <E extends Event>(stream: string) {
    read.add(stream);
    const last = streams.find((one) => one.stream === stream)?.revision;
    if (last === undefined) {
      if (!stream.startsWith('category-')) absent.add(stream);
      return;
    }
    // An event without a position follows the one before it.
    let position = 0n;
    for await (const line of lines()) {
      const event = ProofEvent.safeParse(JSON.parse(line)).data;
      if (event?.stream !== stream || BigInt(event.revision) > BigInt(last)) continue;
      position = event.position === null ? position : BigInt(event.position);
      yield toRecordedEvent(event, position) as RecordedEvent<E>;
    }
  },
});

export const toRadarItem = ({ item }: FoundRadarItem, baseUrl: string): RadarItem =>
  JSON.parse(withObservedLinks(item).replaceAll(BASE_URL_MARK, baseUrl)) as RadarItem;

const itemFaults = (found: FoundRadarItem | null, { item }: RadarStatement): readonly string[] => {
  if (found === null) return ['The events tell of no such item.'];
  if (!/^https?:\/\/[^\s/@]+\//.test(item.ad.url))
    return ['The addresses of the item are not those of a service.'];
  const baseUrl = item.ad.url.slice(0, Math.max(0, item.ad.url.lastIndexOf('/v1/ads/')));
  const computed = toRadarItem(found, baseUrl);
  const names = [...new Set([...Object.keys(computed), ...Object.keys(item)])] as (keyof RadarItem)[];
  return names
    .filter((name) => canonicalJson(computed[name] ?? null) !== canonicalJson(item[name] ?? null))
    .map(
      (name) =>
        `The item has as ${name} ${canonicalJson(computed[name] ?? null)}, and the proof states ${canonicalJson(item[name] ?? null)}.`,
    );
};

/** Events on which the page of an ad rests, which are few. */
const readEvents = async (
  lines: () => AsyncIterable<string>,
  statement: ProofStatement,
): Promise<readonly ProofEvent[]> => {
  const events: ProofEvent[] = [];
  for await (const line of lines()) {
    const event = ProofEvent.safeParse(JSON.parse(line)).data;
    if (event !== undefined && isCounted({ statement }, event)) events.push(event);
  }
  return events;
};

/** The value alone does not tell: without a window, figures of days are 0. */
const windowFaults = ({ figure, from, to }: FigureStatement): readonly string[] => {
  const isWhole = FIGURES[figure].window
    ? from !== null && to !== null && from <= to
    : from === null && to === null;
  return isWhole ? [] : [`${figure} is not counted from ${from} to ${to}.`];
};

const adFaults = (ad: z.infer<typeof Ad> | null, told: AdFacts | null): readonly string[] => {
  if (ad === null || told === null) return ['The events tell of no such ad.'];
  const computed = {
    title: ad.title,
    body: ad.body,
    link_url: ad.destination_url,
    page_id: ad.page?.page_id ?? null,
    status: ad.status,
    started_on: ad.started_on,
    stopped_on: ad.stopped_on,
    first_seen_at: ad.first_seen_at,
    last_seen_at: ad.last_seen_at,
  };
  return (Object.keys(computed) as (keyof typeof computed)[])
    .filter((name) => !isSame(computed[name], told[name]))
    .map((name) => `The ad has as ${name} ${computed[name]}, and the page shows ${told[name]}.`);
};

/** Times may have other numbers of digits. */
const isSame = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && Date.parse(one) === Date.parse(other));

export type Recomputed = {
  /** The figure, the id of the item, or why the delivery was sent; `null` when the events tell of no such thing. */
  readonly result: unknown;
  /** A sentence for each difference to the statement. */
  readonly faults: readonly string[];
  /** Streams that the events name and the bundle does not have. No digest proves that the log had no event in them. */
  readonly absent: readonly string[];
};

type Computed = Pick<Recomputed, 'result' | 'faults'>;

const compute = async (
  statement: ProofStatement,
  pastReads: PastReads,
  eventStore: Pick<EventStore, 'read'>,
  lines: () => AsyncIterable<string>,
): Promise<Computed> => {
  const streams = statement.streams.map(({ stream }) => stream);
  const past = { streams, ofTracked: null, until: { recordedUntil: new Date(statement.as_of) } };
  switch (statement.about) {
    case 'figure': {
      const { brand_id, figure: name, from, to, value } = statement;
      const ofWindow = windowFaults(statement);
      if (ofWindow.length > 0) return { result: null, faults: ofWindow };
      const { result } = await pastReads.read(
        { ...past, streams: streamsOfBrand(brand_id), readModels: READ_MODELS_OF_FIGURES },
        (db) => readFigure(db, brand_id, { name, from, to }),
      );
      const faults =
        result === value ? [] : [`The figure is ${result}, and the proof states ${statement.value}.`];
      return { result, faults };
    }
    case 'radar_item': {
      const { result } = await pastReads.read({ ...past, readModels: ['radar'] }, (db) =>
        findRadarItem(db, statement.item.id),
      );
      return { result: result && statement.item.id, faults: itemFaults(result, statement) };
    }
    case 'ad': {
      const { ad_id } = statement;
      const told = readAdFacts(await readEvents(lines, statement), ad_id);
      const { result } = await pastReads.read({ ...past, readModels: ['ads'] }, (db) => findAd(db, ad_id));
      return {
        result: result && ad_id,
        faults: adFaults(
          result && (JSON.parse(result.json.replaceAll(BASE_URL_MARK, '')) as z.infer<typeof Ad>),
          told,
        ),
      };
    }
    case 'delivery': {
      // Without one, nothing says that the workspace tracked the brand.
      for await (const _ of eventStore.read(trackingStream(statement.workspace_id)));
      const explained = await explainDelivery({ eventStore, pastReads }, statement, streams);
      if (explained === null)
        return { result: null, faults: ['No event of the bundle queued this delivery.'] };
      const { reasons, faults, recordedAt } = explained;
      const isThen = recordedAt.toISOString() === statement.as_of;
      return {
        result: reasons,
        faults: isThen
          ? faults
          : [
              ...faults,
              `The delivery was queued at ${recordedAt.toISOString()}, and the proof states ${statement.as_of}.`,
            ],
      };
    }
  }
};

/** Runs the projections over the events of a checked bundle, in a database apart on the server of `databaseUrl`. */
export const recompute = async (
  statement: ProofStatement,
  lines: () => AsyncIterable<string>,
  { databaseUrl, database }: { readonly databaseUrl: string; readonly database: Database },
): Promise<Recomputed> => {
  const streams = { absent: new Set<string>(), read: new Set<string>() };
  const eventStore = bundleEvents(statement, lines, streams);
  await using pastReads = openPastReads(databaseUrl, database, eventStore);
  const { result, faults } = await compute(statement, pastReads, eventStore, lines);
  const unread = statement.streams.filter(({ stream }) => !streams.read.has(stream));
  const ofOthers =
    faults.length === 0 && statement.about === 'figure'
      ? unread.map(({ stream }) => `${stream}: the figure does not rest on this stream.`)
      : [];
  // An ad rests on the libraries between which it moved; that they are there is checked with its page.
  const absent = statement.about === 'ad' ? [] : [...streams.absent].toSorted();
  return { result, faults: [...faults, ...ofOthers], absent };
};
