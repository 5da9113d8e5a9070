import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { brandIdOf } from '#domain/ids.ts';
import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { catchUpWorkingTables } from '#services/ingest/intake/catch-up-working-tables.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { METADATA } from '../../projector/counting-projection.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';

/** A start reads what was appended since the position that a running process has stored, however long the log is. */

const { START_READS_EVENTS } = readSettings(
  z.object({ START_READS_EVENTS: z.coerce.number().int().min(1_000).default(3_000) }),
);
/** Most events that a start may read, and the same for the short form. */
const READS_MAX = Math.min(10_000, START_READS_EVENTS / 10);
const AT = '2026-05-02T10:00:00Z';
const APPEND_EVENTS = 500;
const LIMIT_MS = 120_000 + START_READS_EVENTS * 2;

const foldedTo = async (database: Database): Promise<bigint> => {
  const { rows } = await database.query<{ position: string }>('select position from ingest.folded_to');
  return BigInt(rows[0]?.position ?? 0);
};

test('a start of ingest reads few of many events, and has all brands', { timeout: LIMIT_MS }, async () => {
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await openIntakeStack());
  const database = openPool(stack.databaseUrl, 2);
  resources.defer(() => database.end());
  const eventStore = resources.use(openEventStore(stack.eventStoreUrl));
  const registered = (domain: string): Event => ({
    type: 'BrandRegistered',
    data: { brand_id: brandIdOf(domain), domain, slug: domain, observed_at: AT },
  });
  await stack.intake.submit({ type: 'brand.profile', domain: 'first.example', observed_at: AT, ...PROFILE });
  // The intake of the stack follows these events, which another process appends.
  for (let from = 0; from < START_READS_EVENTS; from += APPEND_EVENTS) {
    const size = Math.min(APPEND_EVENTS, START_READS_EVENTS - from);
    const events = Array.from({ length: size }, (_, index) => registered(`many-${from + index}.example`));
    await eventStore.append(brandStream(randomUUID()), -1n, events, METADATA, `many ${from}`);
  }
  const head = await eventStore.head();
  const deadline = Date.now() + LIMIT_MS / 2;
  while ((await foldedTo(database)) < head && Date.now() < deadline) await pause(200);
  await stack.intake.submit({ type: 'brand.profile', domain: 'last.example', observed_at: AT, ...PROFILE });
  await using standby = await openIntake(stack);
  const { events } = await catchUpWorkingTables(database, eventStore);
  console.log(`start-reads: ${events} of ${START_READS_EVENTS} events (bound: ${READS_MAX})`);
  expect(events).toBeLessThanOrEqual(READS_MAX);
  expect(await standby.isBrandRegistered('last.example')).toBe(true);
  expect(await standby.isBrandRegistered('many-7.example')).toBe(true);
});

const PROFILE = {
  name: 'Shop',
  description: null,
  url: null,
  logo_url: null,
  country: null,
  category_path: null,
  is_public: null,
  indexable: null,
} as const;
