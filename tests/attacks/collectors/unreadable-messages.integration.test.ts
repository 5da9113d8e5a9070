import { brandProfile } from '#tests/dsl/site-events.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { OBSERVATION_TYPE_HEADER, ORDERING_KEY_HEADER } from '#contracts/messages/observation-headers.ts';
import {
  DEAD_LETTERS_STREAM,
  OBSERVATIONS_STREAM,
  observationSubject,
} from '#contracts/messages/subjects.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { silentLog } from '#platform/logger.ts';
import { headersFrom, openNats } from '#platform/nats/connection.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { type IntakeStack, openIntakeStack } from '../../ingest/fixtures/intake-stack.ts';
import { createTestNats } from '../../stack/database.ts';
import { attack } from '../attack.ts';

let stack: IntakeStack;
beforeAll(async () => {
  stack = await openIntakeStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const SUBJECT = observationSubject('shop.example');
const profile = brandProfile({ observed_at: '2026-05-02T10:00:00Z' });
const DEPTH = 100_000;

const UNREADABLE: Readonly<Record<string, Buffer>> = {
  'no bytes': Buffer.alloc(0),
  'no JSON': Buffer.from('no JSON'),
  'half of an observation': Buffer.from(JSON.stringify(profile).slice(0, -5)),
  'invalid UTF-8': Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
  'deep nesting': Buffer.from(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`),
  'a number': Buffer.from('5'),
  'an unknown type': Buffer.from(JSON.stringify({ ...profile, type: 'brand.money' })),
  'an unknown field': Buffer.from(JSON.stringify({ ...profile, spend: 5 })),
  'a prototype': Buffer.from('{"__proto__":{"type":"brand.profile"}}'),
  'a time in the future': Buffer.from(JSON.stringify({ ...profile, observed_at: '2999-01-01T00:00:00Z' })),
  'more bytes than allowed': Buffer.from(JSON.stringify('a'.repeat(OBSERVATION_MAX_BYTES))),
};
const HEADERS = [
  {},
  { [OBSERVATION_TYPE_HEADER]: 'ad_library.scan', [ORDERING_KEY_HEADER]: 'shop.example' },
  { [OBSERVATION_TYPE_HEADER]: 'brand.profile', [ORDERING_KEY_HEADER]: '%' },
] as const;

attack(
  'a message that cannot be read is set aside with its reason, and those behind it are recorded',
  async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'attack'));
    let sent = 0;
    for (const data of Object.values(UNREADABLE)) {
      for (const headers of HEADERS) {
        await nats.jetstream.publish(SUBJECT, data, { headers: headersFrom(headers) });
        sent += 1;
      }
    }
    await nats.jetstream.publish(SUBJECT, JSON.stringify(profile));
    own.use(await consumeObservations({ nats, intake: stack.intake, log: silentLog(), concurrency: 4 }));
    const left = async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages;
    await expect.poll(left, { timeout: 120_000 }).toBe(0);
    expect(await stack.intake.isBrandRegistered('shop.example')).toBe(true);
    const { state } = await nats.manager.streams.info(DEAD_LETTERS_STREAM);
    expect(state.messages).toBe(sent);
    const reasons = new Set<string>();
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq });
      expect(letter.header.get('subject')).toBe(SUBJECT);
      expect(letter.header.get('reason')).toMatch(/\w{3}/);
      reasons.add(letter.header.get('reason'));
    }
    return `${sent} messages of ${Object.keys(UNREADABLE).length} kinds set aside, ${reasons.size} reasons`;
  },
);
