import type { EventStoreDBClient } from '@eventstore/db-client';
import { appendCases } from './event-store/appends.ts';
import { deletionCases } from './event-store/deletion.ts';
import { interleavingCases } from './event-store/interleavings.ts';
import { metadataCases } from './event-store/metadata.ts';
import { readCases } from './event-store/reads.ts';
import { subscriptionCases } from './event-store/subscriptions.ts';

/** What the suite needs of a server: a client of its own, connected by nothing but the official package. */
export interface EventStoreAdapter {
  connect(): EventStoreDBClient;
}

/**
 * What every service here relies on, checked against whatever speaks EventStoreDB's protocol. Cases share a server
 * and tell their streams apart by random names, so that they also pass on one that holds other data.
 */
export function eventStoreConformance(adapter: EventStoreAdapter): void {
  appendCases(adapter);
  readCases(adapter);
  subscriptionCases(adapter);
  deletionCases(adapter);
  metadataCases(adapter);
  interleavingCases(adapter);
}
