import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import {
  OBSERVATION_TYPE_HEADER,
  ORDERING_KEY_HEADER,
  routingHeadersOf,
} from '#contracts/messages/observation-headers.ts';
import {
  DEAD_LETTERS_STREAM,
  LARGE_OBSERVATION_BYTES,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
  observationSubject,
} from '#contracts/messages/subjects.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { AD_TEXT_MAX_CHARACTERS } from '#contracts/observations/shorten-ad.ts';
import { brandIdOf } from '#domain/ids.ts';
import { silentLog } from '#platform/logger.ts';
import { headersFrom, openNats } from '#platform/nats/connection.ts';
import { shortenedParts } from '#platform/telemetry/metrics.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { largeSlotsOf } from '#services/ingest/queue/slots.ts';
import { consumeAsLeader } from '#services/ingest/queue/single-active-consumer.ts';
import type { BrandRegister, Intake } from '#services/ingest/intake-types.ts';
import { ad } from '#tests/dsl/scans.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

let stack: IntakeStack;
beforeAll(async () => {
  stack = await openIntakeStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('the queue consumer', () => {
  it('acknowledges recorded observations, and dead-letters refused ones with the reason', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const { chunks, end } = scanOf('queue.example', '2026-05-02T10:00:00Z', [ad('31')], {
      pages: ['310000001'],
    });
    const subject = observationSubject('queue.example');
    const stopping = new AbortController();
    const consuming = consumeAsLeader({
      nats,
      intake: stack.intake,
      log: silentLog(),
      concurrency: 2,
      databaseUrl: stack.databaseUrl,
      signal: stopping.signal,
    });
    own.defer(async () => {
      stopping.abort();
      await consuming;
    });
    for (const observation of [...chunks, end, { type: 'ad_library.scan', spend: 12 }]) {
      await nats.jetstream.publish(subject, JSON.stringify(observation));
    }
    await nats.jetstream.publish(subject, 'no JSON');
    await expect
      .poll(async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages, {
        timeout: 60_000,
      })
      .toBe(0);
    const started: string[] = [];
    for await (const event of stack.eventStore.read<AdLibraryEvent>(
      adLibraryStream(brandIdOf('queue.example')),
    ))
      if (event.type === 'AdStarted') started.push(event.data.ad_id);
    expect(started).toEqual([ad('31').ad_id]);
    const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, {
      last_by_subj: OBSERVATION_DEAD_LETTER,
    });
    expect(letter.header.get('reason')).toContain('Send one JSON object per message');
    expect(new TextDecoder().decode(letter.data)).toBe('no JSON');
    expect((await nats.manager.streams.info(DEAD_LETTERS_STREAM)).state.messages).toBe(2);
  });

  it('dead-letters an observation that causes permanent errors, and processes the messages behind it', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const faults: Readonly<Record<string, Error>> = {
      value: Object.assign(new Error('unsupported Unicode escape sequence'), { code: '22P05' }),
      sum: Object.assign(new Error('integer out of range'), { code: '22003' }),
      size: Object.assign(new Error('the append is too large'), { type: 'maximum-append-size-exceeded' }),
      code: new TypeError('cannot read what is not there'),
    };
    const seen: string[] = [];
    const failing: Intake & BrandRegister = {
      isBrandRegistered: async () => true,
      submit: async (input) => {
        const { name } = input as { readonly name: string };
        seen.push(name);
        const fault = faults[name];
        if (fault) throw fault;
        return { events: 0, totals: null };
      },
    };
    const names = [...Object.keys(faults), 'sound'];
    for (const name of names) await nats.jetstream.publish('observations.one', JSON.stringify({ name }));
    own.use(await consumeObservations({ nats, intake: failing, log: silentLog(), concurrency: 2 }));
    await expect
      .poll(async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages, {
        timeout: 60_000,
      })
      .toBe(0);
    expect(new Set(seen), 'one after the other').toEqual(new Set(names));
    expect(seen.at(-1)).toBe('sound');
    const { state } = await nats.manager.streams.info(DEAD_LETTERS_STREAM);
    const reasons: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      reasons.push(
        (await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq })).header.get('reason'),
      );
    }
    expect(reasons).toEqual(Object.values(faults).map(({ message }) => message));
  });

  it('counts and logs what was cut from an observation', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const body = 'a'.repeat(AD_TEXT_MAX_CHARACTERS + 1);
    const shown = [ad('32', { body }), ad('33', { body, title: body }), ad('34')];
    const { chunks } = scanOf('long.example', '2026-05-02T10:00:00Z', shown);
    const logged: { msg: string }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
    const cutTexts = async (): Promise<number> => {
      const { values } = await shortenedParts.get();
      const texts = values.find(({ labels }) => labels.type === 'ad_library.scan' && labels.part === 'texts');
      return texts?.value ?? 0;
    };
    const before = await cutTexts();
    for (const chunk of chunks) await nats.jetstream.publish('observations.long', JSON.stringify(chunk));
    own.use(await consumeObservations({ nats, intake: stack.intake, log, concurrency: 2 }));
    await expect.poll(async () => (await cutTexts()) - before, { timeout: 60_000 }).toBe(3);
    expect(logged.filter(({ msg }) => msg === 'observation shortened')).toEqual([
      expect.objectContaining({
        subject: 'observations.long',
        type: 'ad_library.scan',
        texts: 3,
        urls: 0,
        entries: 0,
      }),
    ]);
  });

  it('dead-letters an observation whose headers contradict it, and submits the others once each', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const submitted: unknown[] = [];
    const intake: Intake & BrandRegister = {
      isBrandRegistered: async () => true,
      submit: async (input) => {
        submitted.push(input);
        return { events: 0, totals: null };
      },
    };
    const end = scanOf('honest.example', '2026-05-02T10:00:00Z', []).end;
    const honest = routingHeadersOf(end);
    const publish = (headers: Readonly<Record<string, string>>) =>
      nats.jetstream.publish(observationSubject('honest.example'), JSON.stringify(end), {
        headers: headersFrom(headers),
      });
    await publish({ ...honest, [OBSERVATION_TYPE_HEADER]: 'site.scan' });
    await publish({ ...honest, [ORDERING_KEY_HEADER]: 'other.example' });
    await publish(honest);
    await publish({});
    own.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency: 2 }));
    await expect
      .poll(async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages, {
        timeout: 60_000,
      })
      .toBe(0);
    expect(submitted).toEqual([end, end]);
    const reasons: string[] = [];
    for (const seq of [1, 2]) {
      const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq });
      reasons.push(letter.header.get('reason'));
    }
    expect(reasons.toSorted()).toEqual([
      expect.stringContaining('`Observation-Type` is "site.scan"'),
      expect.stringContaining('`Ordering-Key` is "other.example"'),
    ]);
  });

  it('records the same events with one and with six concurrent observations when scans share pages', async () => {
    const page = '610000009';
    const brands = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.shared.example`);
    const shows = (day: number, number: number): ObservedAd[] =>
      [0, 1, 2].map((more) =>
        ad(`6${day + more}${number}`, {
          page_id: page,
          started_on: `2026-05-0${day + more}`,
          // The owner depends on the brands registered by then.
          link_url: `https://${brands[(number + more) % brands.length]}/${more}`,
        }),
      );
    const messages = [1, 2].flatMap((day) =>
      brands.flatMap((domain, number) => {
        const at = `2026-05-0${day}T0${number}:00:00Z`;
        const { chunks, end } = scanOf(domain, at, shows(day, number), { pages: [page] });
        const link = {
          type: 'social_page.link',
          brand_domain: domain,
          page_id: page,
          page_name: null,
          observed_at: at,
          role: 'OFFICIAL',
          confidence: number / 10,
          linked: true,
        };
        const batch = number === day ? [link, ...chunks, end] : [...chunks, end];
        return batch.map((one) => ({
          subject: observationSubject(domain),
          text: JSON.stringify(one),
          headers: routingHeadersOf(one),
        }));
      }),
    );

    const recorded = async (concurrency: number, hasHeaders: boolean): Promise<readonly unknown[]> => {
      await using own = new AsyncDisposableStack();
      const server = await createTestNats();
      own.defer(() => server.stop());
      const { intake, eventStore } = own.use(await openIntakeStack());
      const nats = own.use(await openNats(server.url, 'test'));
      for (const { subject, text, headers } of messages) {
        await nats.jetstream.publish(subject, text, { headers: headersFrom(hasHeaders ? headers : {}) });
      }
      own.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency }));
      await expect
        .poll(async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages, {
          timeout: 60_000,
        })
        .toBe(0);
      const events: unknown[] = [];
      for (const domain of brands) {
        for await (const { type, data } of eventStore.read(adLibraryStream(brandIdOf(domain))))
          events.push({ type, data });
      }
      return events;
    };

    const oneByOne = await recorded(1, false);
    expect(oneByOne.length).toBeGreaterThan(30);
    expect(await recorded(6, false)).toEqual(oneByOne);
    expect(await recorded(6, true), 'with headers').toEqual(oneByOne);
  });

  it('lets small observations of other brands pass a backlog of large ones, which keep their order', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const gate = Promise.withResolvers<void>();
    const taken: string[] = [];
    let [large, most] = [0, 0];
    const intake: Intake & BrandRegister = {
      isBrandRegistered: async () => true,
      submit: async (input) => {
        const { brand_domain: brand, chunk, domain } = input as Record<string, string>;
        if (brand !== undefined) {
          large += 1;
          most = Math.max(most, large);
          await gate.promise;
          large -= 1;
        }
        taken.push(domain ?? `${brand} ${chunk}`);
        return { events: 0, totals: null };
      },
    };
    const publish = (observation: object, hasHeaders = true) =>
      nats.jetstream.publish('observations.any', JSON.stringify(observation), {
        headers: headersFrom(hasHeaders ? routingHeadersOf(observation) : {}),
      });
    const brands = Array.from({ length: 8 }, (_, number) => `large-${number}.example`);
    const LARGE = 40;
    const filling = 'a'.repeat(LARGE_OBSERVATION_BYTES);
    for (let place = 0; place < LARGE; place += 1) {
      const brand_domain = brands[place % brands.length];
      const chunk = {
        type: 'ad_library.scan',
        brand_domain,
        chunk: Math.floor(place / brands.length),
        filling,
      };
      await nats.jetstream.publish(`observations.${place % brands.length}`, JSON.stringify(chunk), {
        headers: headersFrom(routingHeadersOf(chunk)),
      });
    }
    const small = ['a.example', 'b.example', 'c.example'];
    for (const domain of small) await publish({ type: 'brand.profile', domain });
    await publish({ type: 'traffic.estimate', domain: 'd.example' }, false);
    own.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency: 6 }));
    await expect.poll(() => taken.toSorted(), { timeout: 60_000 }).toEqual([...small, 'd.example']);
    expect(most).toBe(largeSlotsOf(6));
    gate.resolve();
    const left = async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages;
    await expect.poll(left, { timeout: 60_000 }).toBe(0);
    expect(most).toBe(largeSlotsOf(6));
    for (const brand of brands) {
      const chunks = taken.filter((name) => name.startsWith(brand)).map((name) => Number(name.split(' ')[1]));
      expect(chunks).toEqual(chunks.map((_, index) => index));
    }
  });
});
