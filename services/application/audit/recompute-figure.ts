import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { requireReadable, upcast } from '#contracts/events/schema-registry.ts';
import { ProofEvent, type ProofStatement } from '#contracts/audit/proof.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { READ_MODELS_OF_FIGURES, readFigure } from '#projections/queries/figures.ts';
import { openPastReads, streamsOfBrand } from '../as-of/past-reads.ts';

const toRecordedEvent = (line: ProofEvent): RecordedEvent =>
  requireReadable(
    upcast({
      type: line.type,
      data: JSON.parse(line.data) as unknown,
      stream: line.stream,
      revision: BigInt(line.revision),
      position: BigInt(line.position ?? 0),
      recordedAt: new Date(line.recorded_at),
      id: line.id,
      metadata: { schema_version: line.schema_version ?? undefined } as unknown as RecordedEvent['metadata'],
    }),
  );

/** Reads the bundle once for each stream, so that it is never in memory as a whole. */
const bundleEvents = (
  { streams }: ProofStatement,
  lines: () => AsyncIterable<string>,
): Pick<EventStore, 'read'> => ({
  read: async function* <E extends Event>(stream: string) {
    const last = streams.find((one) => one.stream === stream)?.revision;
    if (last === undefined) return;
    for await (const line of lines()) {
      const event = ProofEvent.safeParse(JSON.parse(line)).data;
      if (event?.stream === stream && BigInt(event.revision) <= BigInt(last))
        yield toRecordedEvent(event) as RecordedEvent<E>;
    }
  },
});

/**
 * Runs the projections over the events of a checked bundle, in a database apart on the server of `databaseUrl`. Returns
 * the figure; `null` when the events tell of no such brand.
 */
export const recomputeFigure = async (
  statement: ProofStatement,
  lines: () => AsyncIterable<string>,
  { databaseUrl, database }: { readonly databaseUrl: string; readonly database: Database },
): Promise<number | null> => {
  const { brand_id, figure: name, from, to, as_of } = statement;
  await using pastReads = openPastReads(databaseUrl, database, bundleEvents(statement, lines));
  const { result } = await pastReads.read(
    {
      streams: streamsOfBrand(brand_id),
      ofTracked: null,
      readModels: READ_MODELS_OF_FIGURES,
      until: { recordedUntil: new Date(as_of) },
    },
    (db) => readFigure(db, brand_id, { name, from, to }),
  );
  return result;
};
