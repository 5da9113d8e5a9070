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

const CATCH_UP_EVENTS = 6;
/** A try fails only when another process wrote the same tables meanwhile. */
const CATCH_UP_TRIES = 50;
const TRY_DELAY_MS = 100;

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
