import type { BrandProfileChanged, BrandRegistered } from '#contracts/events/corpus/brand.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { requireReadable } from '#contracts/events/schema-registry.ts';
import type { PageProfileObserved, SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Appending } from './pending-mark.ts';

/** Several processes may fold at once. */

type Stored = Pick<RecordedEvent, 'stream' | 'type' | 'data' | 'revision'>;
type LinkEvent = Exclude<SocialPageEvent, PageProfileObserved>;

const LINK_EVENTS: ReadonlySet<string> = new Set<LinkEvent['type']>([
  'PageLinked',
  'PageUnlinked',
  'PageLinkQuarantined',
  'PageLinkObserved',
]);

export const isFolded = ({ type }: Event): boolean =>
  type === 'BrandRegistered' || type === 'BrandProfileChanged' || LINK_EVENTS.has(type);

/** Keeps the earliest time. Idempotent. */
export const storeBrand = async (
  database: Database,
  brandId: string,
  domain: string,
  observedAt: string,
): Promise<void> => {
  await database.query({
    name: 'ingest_store_brand',
    text: `insert into ingest.brand as b (brand_id, domain, registered_at)
           select $1::uuid, $2, least($3::text, (select min(observed_at) from ingest.page_link where brand_id = $1 and linked))
           on conflict (brand_id) do update set registered_at = least(b.registered_at, excluded.registered_at)
           where b.registered_at is distinct from least(b.registered_at, excluded.registered_at)`,
    values: [brandId, domain, observedAt],
  });
};

const storeProfileTime = async (database: Database, brandId: string, observedAt: string): Promise<void> => {
  await database.query({
    name: 'ingest_store_profile_time',
    text: 'update ingest.brand set registered_at = $2 where brand_id = $1 and registered_at > $2',
    values: [brandId, observedAt],
  });
};

// Skips an event that is in the tables. With $9 (revision before it) also one that is not next; $10 is the command
// whose mark is deleted. At equal times the last in the log holds.
const STORE_LINK = `
  with current as (
    insert into ingest.folded_page as f (stream, revision)
    select $1, $2::bigint
    where coalesce($9::bigint, -1) = -1 or exists (select from ingest.folded_page where stream = $1)
    on conflict (stream) do update set revision = excluded.revision
    where f.revision < excluded.revision and ($9::bigint is null or f.revision = $9)
    returning 1
  ), history as (
    insert into ingest.page_link (brand_id, social_page_id, observed_at, linked, confidence)
    select $3, $4, $5, $6, $7 where exists (select from current)
    on conflict (social_page_id, brand_id, observed_at) do update set linked = excluded.linked, confidence = excluded.confidence
  ), linked as (
    insert into ingest.linked_page (brand_id, social_page_id, confidence, linked_at)
    select $3, $4, $7, $5 where $8 = 'PageLinked' and exists (select from current)
    on conflict (brand_id, social_page_id) do update set confidence = excluded.confidence
  ), unlinked as (
    delete from ingest.linked_page where brand_id = $3 and social_page_id = $4
      and $8 in ('PageUnlinked', 'PageLinkQuarantined') and exists (select from current)
  ), named as (
    update ingest.brand set registered_at = $5
    where brand_id = $3 and $6 and registered_at > $5 and exists (select from current)
  ), cleared as (
    delete from ingest.pending_fold where stream = $1 and command_id = $10 and exists (select from current)
  )
  select from current`;

/** `after`: revision before the append. */
type Append = { readonly after: bigint; readonly commandId: string };

/** `false` when skipped: with `append` the event must be the next for the tables. */
const storeLink = async (
  database: Database,
  { stream, revision, ...event }: Pick<Stored, 'stream' | 'revision'> & LinkEvent,
  append: Append | null,
): Promise<boolean> => {
  const { type, data } = event;
  const { rows } = await database.query({
    name: 'ingest_store_link',
    text: STORE_LINK,
    values: [
      stream,
      revision,
      data.brand_id,
      data.page_id,
      data.observed_at,
      type === 'PageLinkObserved' ? data.status === 'linked' : type === 'PageLinked',
      'confidence' in data ? data.confidence : null,
      type,
      append?.after ?? null,
      append?.commandId ?? null,
    ],
  });
  return rows.length > 0;
};

/** Also deletes the mark. `false`, without effect, when earlier events are missing; the stream is then folded. */
export const storeAppendedLink = (
  database: Database,
  { stream, commandId }: Appending,
  event: Event,
  revision: bigint,
): Promise<boolean> =>
  storeLink(database, { ...(event as LinkEvent), stream, revision }, { after: revision - 1n, commandId });

/** Idempotent. Needs the events of a stream in their order, without gaps. */
export const foldEvent = async (database: Database, event: Stored): Promise<void> => {
  if (event.type === 'BrandRegistered') {
    const { brand_id, domain, observed_at } = event.data as BrandRegistered['data'];
    await storeBrand(database, brand_id, domain, observed_at);
  } else if (event.type === 'BrandProfileChanged') {
    const { brand_id, observed_at } = event.data as BrandProfileChanged['data'];
    await storeProfileTime(database, brand_id, observed_at);
  } else if (LINK_EVENTS.has(event.type)) {
    await storeLink(database, event as Stored & LinkEvent, null);
  }
};

export const foldPageStream = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
): Promise<void> => {
  const { rows } = await database.query<{ revision: string }>({
    name: 'ingest_folded_page',
    text: 'select revision from ingest.folded_page where stream = $1',
    values: [stream],
  });
  const after = rows[0] ? BigInt(rows[0].revision) : -1n;
  for await (const event of eventStore.read(stream, after)) {
    requireReadable(event);
    await foldEvent(database, event);
  }
};

/** The first event of a brand stream registers the brand. */
export const foldBrandStream = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
): Promise<void> => {
  for await (const event of eventStore.read(stream)) {
    requireReadable(event);
    await foldEvent(database, event);
  }
};
