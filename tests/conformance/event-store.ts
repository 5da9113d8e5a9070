import type { EventStoreDBClient } from '@eventstore/db-client';
import { appendCases } from './event-store/appends.ts';
import { deletionCases } from './event-store/deletion.ts';
import { interleavingCases } from './event-store/interleavings.ts';
import { metadataCases } from './event-store/metadata.ts';
import { readCases } from './event-store/reads.ts';
import { subscriptionCases } from './event-store/subscriptions.ts';

/** `connect` returns a new client of the official package. */
export interface EventStoreAdapter {
  connect(): EventStoreDBClient;
}

/** Tests the behaviour that the services rely on. Streams have random names, so that the server may hold other data. */
export function eventStoreConformance(adapter: EventStoreAdapter): void {
  appendCases(adapter);
  readCases(adapter);
  subscriptionCases(adapter);
  deletionCases(adapter);
  metadataCases(adapter);
  interleavingCases(adapter);
}
