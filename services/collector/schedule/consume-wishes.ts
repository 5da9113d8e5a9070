import { AckPolicy, type ConsumerConfig, type ConsumerInfo, type JetStreamManager, type JsMsg } from 'nats';
import { z } from 'zod';
import {
  SCRAPES_STREAM,
  SCRAPE_REQUESTED,
  collectorConsumer,
  scrapeWanted,
} from '#contracts/messages/subjects.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Cadence, ObservedDomain, Timestamp } from '#contracts/values/primitives.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { readBrandDomain } from '#projections/brands/read.ts';
import { recordWish } from './target-store.ts';

/** JetStream: the consumer does not exist. */
const CONSUMER_NOT_FOUND = 10_014;

const find = async (
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<ConsumerInfo | null> => {
  try {
    return await manager.consumers.info(stream, name);
  } catch (error) {
    const { api_error } = error as { api_error?: { err_code?: number } };
    if (api_error?.err_code === CONSUMER_NOT_FOUND) return null;
    throw error;
  }
};

/** Returns an existing consumer, with the values of an operator, or `null` when it was created. */
export const ensureConsumer = async (
  manager: JetStreamManager,
  stream: string,
  config: Partial<ConsumerConfig> & { readonly durable_name: string },
): Promise<ConsumerInfo | null> => {
  const existing = await find(manager, stream, config.durable_name);
  if (existing !== null) return existing;
  try {
    await manager.consumers.add(stream, config);
    return null;
  } catch (error) {
    // Another process that creates it at the same time with other values was first.
    const first = await find(manager, stream, config.durable_name);
    if (first === null) throw error;
    return first;
  }
};

const ACK_WAIT_MS = 30_000;
const NANOS_PER_MS = 1_000_000;
const DELIVERIES_MAX = 20;
const REDELIVER_MS = 15_000;
const FETCHED_MESSAGES = 100;
const PULL_MS = 4_000;
const RETRY_MS = 1_000;

const Reason = z.enum(['tracked', 'due', 'operator']).optional();
const Requested = z.object({
  brand_id: z.uuid(),
  brand_domain: ObservedDomain.optional(),
  cadence: Cadence,
  requested_at: Timestamp,
  reason: Reason,
});
const Wanted = z.object({
  brand_domain: ObservedDomain,
  cadence: Cadence,
  requested_at: Timestamp,
  reason: Reason,
});

export type WishConsumer = {
  readonly nats: Nats;
  readonly database: Database;
  readonly db: ReadDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly sources: readonly string[];
  readonly recorded: () => void;
};

const payloadOf = (message: JsMsg): unknown => {
  try {
    return message.json();
  } catch {
    return null;
  }
};

const recordMessage = async (consumer: WishConsumer, source: string, message: JsMsg): Promise<boolean> => {
  const { database, db, clock, log } = consumer;
  const isForAll = message.subject === SCRAPE_REQUESTED;
  // Servers before 2.10 cannot filter these; other consumers record them.
  if (!isForAll && message.subject !== scrapeWanted(source)) return true;
  const parsed = (isForAll ? Requested : Wanted).safeParse(payloadOf(message));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    log.warn({ subject: message.subject, path: issue?.path, reason: issue?.message }, 'wish refused');
    return true;
  }
  const { brand_domain, cadence, reason } = parsed.data;
  const domain =
    brand_domain ?? ('brand_id' in parsed.data ? await readBrandDomain(db, parsed.data.brand_id) : null);
  if (domain === null) return false;
  await recordWish(database, { source, domain, cadence, at: clock.now(), isUrgent: reason === 'operator' });
  return true;
};

const consumeSource = async (consumer: WishConsumer, source: string): Promise<void> => {
  const { nats, log, signal, recorded } = consumer;
  const durable = collectorConsumer(source);
  while (!signal.aborted) {
    try {
      await ensureStreams(nats);
      await ensureConsumer(nats.manager, SCRAPES_STREAM, {
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
        max_deliver: DELIVERIES_MAX,
      });
      const wishes = await nats.jetstream.consumers.get(SCRAPES_STREAM, durable);
      while (!signal.aborted) {
        const messages = await wishes.fetch({ max_messages: FETCHED_MESSAGES, expires: PULL_MS });
        const stop = (): void => messages.stop();
        signal.addEventListener('abort', stop, { once: true });
        for await (const message of messages) {
          if (await recordMessage(consumer, source, message)) message.ack();
          else message.nak(REDELIVER_MS);
          recorded();
        }
        signal.removeEventListener('abort', stop);
      }
    } catch (error) {
      if (!signal.aborted)
        log.warn({ source, reason: (error as Error).message }, 'consuming wishes failed; retrying');
      await pause(RETRY_MS, signal);
    }
  }
};

/**
 * Records wishes as targets. Each source has its own consumer, so that processes with other sources take none of its
 * wishes. Acknowledges after recording, so that a restart loses none.
 */
export const consumeWishes = async (consumer: WishConsumer): Promise<void> => {
  await Promise.all(consumer.sources.map((source) => consumeSource(consumer, source)));
};
