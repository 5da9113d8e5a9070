import { afterAll, expect, test } from 'vitest';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { openAppendStream } from '#platform/event-store/append-stream.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const LIMIT_MS = 30_000;
const NEIGHBOURS = 40;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const event = (number: number) => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  type: 'Tried',
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from('{}'),
});

test.each([
  ['that is too long', 'x'.repeat(513), /at most 512 bytes/],
  ['that is empty', '', /name is empty/],
  ['with a NUL character', 'a\0b', /NUL/],
])(
  'an append to a stream with a name %s is refused, and no other append of its connection',
  async (_what, name, reason) => {
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const store = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port: 0 });
    resources.defer(() => store.stop());
    await using appends = openAppendStream(store.url);
    const append = (stream: string, number: number) =>
      appends.append({ stream, expected: -1n, events: [event(number)] }, LIMIT_MS);
    const neighbours = Array.from({ length: NEIGHBOURS }, (_, number) => append(`trial-${number}`, number));
    await expect(append(name, NEIGHBOURS)).rejects.toThrow(reason);
    expect(await Promise.all(neighbours)).toHaveLength(NEIGHBOURS);
  },
);
