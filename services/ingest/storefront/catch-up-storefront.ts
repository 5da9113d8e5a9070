import { type StorefrontEvent, storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { requireReadable } from '#contracts/events/schema-registry.ts';
import { pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  foldStorefrontEvents,
  loadProducts,
  type OpenStorefront,
  openStorefront,
  productIdsOf,
  saveStorefront,
} from './storefront-store.ts';

/** Maximum events per batch when a shop's tables catch up with its stream. An event holds up to 150,000 characters. */
const CATCH_UP_EVENTS = 6;
/** Maximum tries. Each of them fails only because another process wrote the same tables meanwhile. */
const CATCH_UP_TRIES = 50;
/** Maximum milliseconds before the next try. */
const TRY_DELAY_MS = 100;

/** Folds the events after the shop's revision and writes them. Returns false when another process was first. */
const foldRest = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  shop: OpenStorefront,
): Promise<boolean> => {
  let folded = 0;
  let { revision } = shop;
  for await (const recorded of eventStore.read<StorefrontEvent>(
    storefrontStream(shop.domain),
    shop.revision,
  )) {
    const event = requireReadable(recorded);
    await loadProducts(database, shop, productIdsOf(event));
    foldStorefrontEvents(shop, [event]);
    ({ revision } = recorded);
    folded += 1;
    if (folded % CATCH_UP_EVENTS === 0 && !(await saveStorefront(database, shop, revision))) return false;
  }
  return shop.revision === revision || (await saveStorefront(database, shop, revision));
};

/**
 * Folds the events that the shop's tables do not reflect yet, and returns the shop. Several processes may do so at once.
 * Throws when others write the tables all the time.
 */
export const catchUpStorefront = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  domain: string,
  scanId: string,
): Promise<OpenStorefront> => {
  for (let tries = 0; tries < CATCH_UP_TRIES; tries += 1) {
    const shop = await openStorefront(database, domain, scanId);
    if (await foldRest(database, eventStore, shop)) return shop;
    await pause(Math.random() * TRY_DELAY_MS);
  }
  throw new Error(
    `other processes wrote the products of ${domain} during ${CATCH_UP_TRIES} tries; run again when they have ended`,
  );
};
