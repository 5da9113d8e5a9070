import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type EncodedEvent, openAppendStream } from '#platform/event-store/append-stream.ts';
import { copyLog, fileSource } from '#services/ops/log/transfer.ts';
import { writeLogFile } from '#services/ops/log/file.ts';
import { runs } from '#tests/property-seed.ts';
import { compare, contentOf, copy, createStores, eventsOf, untilEnd } from './stores.ts';

const RUNS = runs(2);
const LIMIT_MS = 60_000 + RUNS * 10_000;
const NAMES = ['brand-1', 'Ünï-🙂', 'a b/c?&#%"\\', '-', 'no hyphen', 'x-\u2028\u0001'];
const WITHIN_MS = 30_000;

const stores = createStores();
afterAll(() => stores[Symbol.asyncDispose]());

const texts = fc.string({ unit: 'grapheme', maxLength: 30 });
const json = fc
  .dictionary(texts, fc.oneof(texts, fc.double(), fc.constant('\u2028\u2029\n')), { maxKeys: 4 })
  .map((value) => Buffer.from(JSON.stringify(value), 'utf8'));
const event = fc
  .record({
    id: fc.uuid(),
    type: fc.oneof(
      fc.constantFrom('Tried', 'Versucht'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    ),
    data: fc.oneof(
      { weight: 6, arbitrary: json },
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
      // Near the limit of 1 MiB: some have room for the mark of a copy, some do not.
      {
        weight: 1,
        arbitrary: fc
          .integer({ min: 1, max: 200 })
          .map((less) => Buffer.alloc(1024 * 1024 - 100 - less, 'x')),
      },
    ),
    metadata: fc.oneof(
      json,
      fc.constantFrom('', '{ }', ' {"a":1}', '[1]', '{"a" : 1e21}\n').map((text) => Buffer.from(text)),
    ),
  })
  .filter(
    ({ type, data, metadata }) =>
      data.length + metadata.length + 2 * type.length <= 1024 * 1024 && !type.startsWith('$'),
  )
  .map((fields): EncodedEvent => ({ ...fields, contentType: 'application/octet-stream' }));

type Step =
  | { readonly kind: 'append'; readonly events: readonly EncodedEvent[] }
  | { readonly kind: 'delete' }
  | { readonly kind: 'describe'; readonly cache: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      events: fc.array(event, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('describe' as const), cache: fc.nat({ max: 90 }) }) },
);
const histories = fc.array(fc.record({ stream: fc.constantFrom(...NAMES), step }), {
  minLength: 5,
  maxLength: 40,
});

/** Refusals, such as of deleting a missing stream, are part of the history. */
const carryOut = async (
  url: string,
  history: readonly { readonly stream: string; readonly step: Step }[],
) => {
  const client = EventStoreDBClient.connectionString(url);
  await using appends = openAppendStream(url);
  for (const { stream, step: one } of history) {
    const perform = async (): Promise<unknown> => {
      switch (one.kind) {
        case 'append':
          return appends.append({ stream, expected: 'any', events: one.events }, WITHIN_MS);
        case 'delete':
          return client.deleteStream(stream);
        case 'describe':
          return client.setStreamMetadata(stream, { cacheControl: one.cache, own: '🙂' });
      }
    };
    await perform().catch(() => undefined);
  }
  await client.dispose();
};

const viewOf = async (url: string) => {
  const client = EventStoreDBClient.connectionString(url);
  const view: Record<string, unknown> = {};
  for (const stream of NAMES) {
    const events: unknown[] = [];
    try {
      for await (const { event: one } of client.readStream(stream))
        events.push([one?.id, one?.revision, one?.type]);
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
      events.push('not found');
    }
    const { metadata } = await client.getStreamMetadata(stream);
    view[stream] = { events, metadata };
  }
  await client.dispose();
  return view;
};

test('a copy, and an export with its import, keep events, deletions and metadata', {
  timeout: LIMIT_MS,
}, async () => {
  const folder = await stores.folder();
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const [fromUrl, copyUrl, importUrl] = [
        await stores.start(),
        await stores.start(),
        await stores.start(),
      ];
      await carryOut(fromUrl, history);
      const [from, copied, imported] = [stores.open(fromUrl), stores.open(copyUrl), stores.open(importUrl)];
      await copy(from, copied);
      const file = join(folder, `${randomUUID()}.ndjson.gz`);
      await writeLogFile(file, copied);
      await copyLog(fileSource(file), imported, () => undefined, untilEnd());
      const events = await eventsOf(from);
      const view = await viewOf(fromUrl);
      for (const [log, url] of [
        [copied, copyUrl],
        [imported, importUrl],
      ] as const) {
        expect(await compare(from, log)).toMatchObject({ isEqual: true });
        const own = await eventsOf(log);
        expect(own.map(contentOf)).toEqual(events.map(contentOf));
        expect(await viewOf(url)).toEqual(view);
        // Nothing is missing, also where the last event belongs to a deleted stream.
        expect(await copy(from, log)).toBe(0);
      }
    }),
    // A smaller counterexample would take minutes to find.
    { numRuns: RUNS, endOnFailure: true },
  );
});
