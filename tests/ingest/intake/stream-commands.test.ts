import { metadataOf } from '#tests/dsl/metadata.ts';
import { expect, test } from 'vitest';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { recordPageLink, socialPage } from '#domain/corpus/social-page.ts';
import { type EventStore, StreamMoved } from '#platform/event-store/event-store.ts';
import { createStreamCommands } from '#services/ingest/intake/observation-handler.ts';

const countingStore = () => {
  const stored: Event[] = [];
  let read = 0;
  let loaded = 0;
  const store: Pick<EventStore, 'load' | 'append'> = {
    load: async (_stream, fold, from) => {
      loaded += 1;
      const start = from ?? { state: fold.initial, revision: -1n, position: 0n };
      const later = stored.slice(Number(start.revision) + 1);
      read += later.length;
      const state = later.reduce((before, event) => fold.evolve(before, event as never), start.state);
      return { state, revision: BigInt(stored.length - 1), position: 0n };
    },
    append: async (stream, expected, events) => {
      if (expected !== BigInt(stored.length - 1)) throw new StreamMoved(stream);
      stored.push(...events);
      return { revision: BigInt(stored.length - 1), position: 0n };
    },
  };
  return { store, stored, reads: () => read, loads: () => loaded };
};

const metadata = metadataOf('test');

const linkTo = (brand: number) => ({
  stream: 'socialPage-100000001',
  decider: socialPage as unknown as Decider<unknown, Event>,
  decision: recordPageLink(
    {
      type: 'social_page.link',
      brand_domain: `brand-${brand}.example`,
      page_id: '100000001',
      page_name: null,
      observed_at: '2026-05-01T10:00:00.000Z',
      role: 'CREATOR',
      confidence: 0.9,
      linked: true,
    },
    `brand ${brand}`,
  ) as unknown as (state: unknown) => readonly SocialPageEvent[],
  metadata,
  commandId: `command ${brand}`,
});

test('observations on one stream read no event twice', async () => {
  const LINKS = 4_000;
  const { store, stored, reads, loads } = countingStore();
  const run = createStreamCommands(store);
  for (let brand = 0; brand < LINKS; brand += 1) expect((await run(linkTo(brand))).events).toHaveLength(1);
  expect((await run(linkTo(7))).events).toEqual([]);
  expect(stored).toHaveLength(LINKS);
  expect(reads()).toBe(0);
  expect(loads(), 'the first observation, and the repeated one').toBe(2);
});

test('an observation is decided on events that another process appended', async () => {
  const { store, stored, reads } = countingStore();
  const [run, other] = [createStreamCommands(store), createStreamCommands(store)];
  await run(linkTo(1));
  await other(linkTo(2));
  expect((await run(linkTo(2))).events).toEqual([]);
  expect(stored).toHaveLength(2);
  expect(reads()).toBe(2);
});
