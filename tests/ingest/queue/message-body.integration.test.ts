import { expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { openNats } from '#platform/nats/connection.ts';
import { MessageGone, readBody } from '#services/ingest/queue/message-body.ts';
import { createTestNats } from '#tests/stack/database.ts';

test('a body is read from the stream, also from one that an older release configured', async () => {
  await using own = new AsyncDisposableStack();
  const server = await createTestNats();
  own.defer(() => server.stop());
  const nats = own.use(await openNats(server.url, 'test'));
  const { seq } = await nats.jetstream.publish('observations.a', 'a body');
  const { config } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  for (const allow_direct of [true, false]) {
    await nats.manager.streams.update(OBSERVATIONS_STREAM, { ...config, allow_direct });
    expect(Buffer.from(await readBody(nats, seq)).toString()).toBe('a body');
    await expect(readBody(nats, seq + 1)).rejects.toThrow(MessageGone);
  }
});
