import { type StorefrontEvent, storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { derivedId } from '#domain/ids.ts';
import { eventMetadata, serviceActor, type StateStore } from '#application/commands/command-handler.ts';
import type { EventStore, Recorded } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpStorefront } from './catch-up-storefront.ts';
import {
  dropUnchangedProducts,
  foldStorefrontEvents,
  type OpenStorefront,
  openStorefront,
  saveStorefront,
} from './storefront-store.ts';

/** From the event's content, not its place in an append, so that an interrupted scan repeats the same ids. */
const eventIdOf = ({ type, data }: StorefrontEvent): string => {
  const about =
    'products' in data
      ? (data.products[0]?.product_id ?? '')
      : 'changes' in data
        ? (data.changes[0]?.product_id ?? '')
        : 'product_ids' in data
          ? (data.product_ids[0] ?? '')
          : '';
  return derivedId('storefront event', `${data.scan_id}|${data.domain}|${type}|${about}`);
};

export type StorefrontStateStore = StateStore<OpenStorefront, StorefrontEvent> & {
  appended(): number;
};

/** A catalogue is too large to fold for each scan, so tables give the state. `readsStream`: it must not be stale. */
export const createStorefrontStateStore = (
  database: Database,
  eventStore: EventStore,
  scan: {
    readonly domain: string;
    readonly scanId: string;
    readonly readsStream: boolean;
    readonly appendedEvents: number;
  },
): StorefrontStateStore => {
  const { domain, scanId, readsStream, appendedEvents } = scan;
  const metadata = eventMetadata({
    actor: serviceActor('ingest'),
    correlationId: scanId,
    causationId: scanId,
  });
  let shop: OpenStorefront | undefined;
  let gathered: StorefrontEvent[] = [];
  let appended = 0;
  let last: Recorded | null = null;

  const flush = async (): Promise<void> => {
    if (gathered.length === 0 || !shop) return;
    const events = gathered;
    gathered = [];
    last = await eventStore.append(storefrontStream(domain), shop.revision, events, metadata, (event) =>
      eventIdOf(event as StorefrontEvent),
    );
    appended += events.length;
    const isSaved = await saveStorefront(database, shop, last.revision);
    if (!isSaved) await catchUpStorefront(database, eventStore, domain, scanId);
  };

  return {
    load: async (conflicts) => {
      shop = await openStorefront(database, domain, scanId);
      gathered = [];
      appended = 0;
      last = null;
      // Optimistic: tables count as current until `StreamMoved`. A shop without a row is new, or its tables were
      // dropped.
      if (readsStream || conflicts > 0 || shop.revision < 0n)
        shop = await catchUpStorefront(database, eventStore, domain, scanId);
      return shop;
    },
    append: async (events) => {
      if (!shop) throw new Error('a shop is loaded before events are appended to it');
      foldStorefrontEvents(shop, events);
      dropUnchangedProducts(shop);
      gathered.push(...events);
      if (gathered.length >= appendedEvents) await flush();
    },
    commit: async () => {
      await flush();
      return last;
    },
    appended: () => appended,
  };
};
