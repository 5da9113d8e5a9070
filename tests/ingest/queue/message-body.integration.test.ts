import { expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { openNats } from '#platform/nats/connection.ts';
import { createBodyReader, MessageGone } from '#services/ingest/queue/message-body.ts';
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
    const readBody = createBodyReader(nats);
    // Without direct reads, the first read waits for an answer, and the others ask the leader at once.
    for (let count = 0; count < 20; count += 1) {
      expect(Buffer.from(await readBody(seq)).toString()).toBe('a body');
    }
    await expect(readBody(seq + 1)).rejects.toThrow(MessageGone);
  }
});
