import {
  type EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  type Filter,
  type Position,
  streamNameFilter,
} from '@eventstore/db-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { fill, Follower, idsOf, newEvents, newStream, readWhole, revisionsOf } from './support.ts';

/** Letters and digits only, so that a case can filter for its own streams. */
function newCategory(): string {
  return newStream('c').replaceAll('-', '');
}

export function subscriptionCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  const followers: Follower[] = [];
  beforeAll(() => {
    client = adapter.connect();
  });
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close();
  });
  afterAll(() => client.dispose());

  function followStream(stream: string, fromRevision: 'start' | 'end' | bigint = 'start'): Follower {
    const follower = new Follower(client.subscribeToStream(stream, { fromRevision }));
    followers.push(follower);
    return follower;
  }

  function followAll(fromPosition: 'start' | 'end' | Position, filter?: Filter): Follower {
    const noted: Filter | undefined =
      filter === undefined
        ? undefined
        : { ...filter, checkpointReached: (_subscription, position) => follower.noteCheckpoint(position) };
    const options = noted === undefined ? { fromPosition } : { fromPosition, filter: noted };
    const follower: Follower = new Follower(client.subscribeToAll(options));
    followers.push(follower);
    return follower;
  }

  async function appendAt(stream: string, count = 1): Promise<{ ids: string[]; position: Position }> {
    const events = newEvents(count);
    const { position } = await client.appendToStream(stream, events);
    if (position === undefined) throw new Error('no position');
    return { ids: idsOf(events), position };
  }

  describe('subscribing to a stream', () => {
    test('delivers existing events, then caughtUp, then new events', async () => {
      const stream = newStream();
      const before = await fill(client, stream, 300);
      const follower = followStream(stream);
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(follower.trace).toEqual(['confirmation', ...idsOf(before), 'caughtUp']);
      const { ids } = await appendAt(stream, 3);
      await follower.until((seen) => seen.events.length === 303, 'the live events');
      expect(idsOf(follower.events)).toEqual([...idsOf(before), ...ids]);
      expect(follower.count('caughtUp')).toBe(1);
    });

    test('excludes the event at the start revision', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      const follower = followStream(stream, 2n);
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(revisionsOf(follower.events)).toEqual([3, 4]);
    });

    test('delivers only new events from the end', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      const follower = followStream(stream, 'end');
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      await appendAt(stream);
      await follower.until((seen) => seen.events.length === 1, 'the live event');
      expect(revisionsOf(follower.events)).toEqual([5]);
    });

    test('waits for a stream that does not exist yet', async () => {
      const stream = newStream();
      const follower = followStream(stream);
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      const { ids } = await appendAt(stream, 2);
      await follower.until((seen) => seen.events.length === 2, 'the first events');
      expect(idsOf(follower.events)).toEqual(ids);
    });
  });

  test('a subscription to a stream or to $all delivers each event once during appends', async () => {
    const stream = newStream(newCategory());
    const { position } = await appendAt(stream);
    const filter = () => streamNameFilter({ prefixes: [stream] });
    const begun: Follower[] = [];
    const ids: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      if (round % 3 === 0) begun.push(followStream(stream, 0n), followAll(position, filter()));
      ids.push(...(await appendAt(stream, 2)).ids);
    }
    const last = ids.at(-1) ?? '';
    for (const follower of begun) {
      await follower.until((seen) => seen.count(last) > 0, 'the last event');
      expect(idsOf(follower.events)).toEqual(ids);
    }
  });

  describe('subscribing to $all', () => {
    test('excludes the event at the start position', async () => {
      const first = await appendAt(newStream());
      const second = await appendAt(newStream());
      const follower = followAll(first.position);
      await follower.until((seen) => seen.count(second.ids[0] ?? '') > 0, 'the second event');
      expect(follower.trace).not.toContain(first.ids[0]);
    });

    test('delivers only new events from the end', async () => {
      const before = await appendAt(newStream());
      const follower = followAll('end');
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      const after = await appendAt(newStream());
      await follower.until((seen) => seen.count(after.ids[0] ?? '') > 0, 'the live event');
      expect(follower.trace).not.toContain(before.ids[0]);
    });

    test('catches up once from the start and delivers system events', async () => {
      const { ids } = await appendAt(newStream());
      const follower = followAll('start');
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(follower.trace).toContain(ids[0]);
      expect(follower.events.some((event) => event.type.startsWith('$'))).toBe(true);
    });

    test('delivers the same order to all subscribers under concurrent writers', async () => {
      const category = newCategory();
      const filter = () => streamNameFilter({ prefixes: [category] });
      const early = followAll('end', filter());
      await early.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      const writers = Array.from({ length: 16 }, async (_, writer) => {
        for (let round = 0; round < 25; round += 1) await appendAt(`${category}-${writer}`, 1 + (round % 3));
      });
      const middle = followAll('start', filter());
      await Promise.all(writers);
      const total = 16 * 49;
      await early.until((seen) => seen.events.length === total, 'all events live');
      await middle.until((seen) => seen.events.length === total, 'all events from the start');
      const late = followAll('start', filter());
      await late.until((seen) => seen.events.length === total, 'all events afterwards');
      expect(idsOf(middle.events)).toEqual(idsOf(early.events));
      expect(idsOf(late.events)).toEqual(idsOf(early.events));
      for (let writer = 0; writer < 16; writer += 1) {
        const own = early.events.filter((event) => event.streamId === `${category}-${writer}`);
        expect(revisionsOf(own)).toEqual(Array.from({ length: 49 }, (_, revision) => revision));
      }
    });

    test('waits for a slow reader without losing events', async () => {
      const category = newCategory();
      const subscription = client.subscribeToAll({
        fromPosition: 'end',
        filter: streamNameFilter({ prefixes: [category] }),
      });
      const expected: string[] = [];
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { event } of subscription) {
          if (event !== undefined) seen.push(event.id);
          if (seen.length % 100 === 1) await new Promise((resolve) => setTimeout(resolve, 20));
          if (seen.length === 3_000) break;
        }
      })();
      await new Promise((resolve) => subscription.once('caughtUp', resolve));
      for (let round = 0; round < 30; round += 1)
        expected.push(...(await appendAt(`${category}-slow`, 100)).ids);
      await reading;
      await subscription.unsubscribe();
      expect(seen).toEqual(expected);
    });
  });

  describe('filtering $all', () => {
    test('selects by prefixes of stream names', async () => {
      const [one, two, other] = [newCategory(), newCategory(), newCategory()];
      const start = await appendAt(newStream());
      const wanted = await appendAt(`${one}-1`);
      await appendAt(`${other}-1`);
      const alsoWanted = await appendAt(`${two}-1`);
      const follower = followAll(start.position, streamNameFilter({ prefixes: [`${one}-`, `${two}-`] }));
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(idsOf(follower.events)).toEqual([...wanted.ids, ...alsoWanted.ids]);
    });

    test('selects by prefixes of event types', async () => {
      const type = newCategory();
      const stream = newStream();
      const wanted = newEvents(2, `${type}Opened`);
      await client.appendToStream(stream, [...newEvents(1), ...wanted, ...newEvents(1)]);
      const follower = followAll('start', eventTypeFilter({ prefixes: [type] }));
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(idsOf(follower.events)).toEqual(idsOf(wanted));
    });

    test('selects by a pattern, as excludeSystemEvents does', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 5 });
      const { ids } = await appendAt(stream);
      const follower = followAll('start', excludeSystemEvents());
      await follower.until((seen) => seen.count(ids[0] ?? '') > 0, 'the event');
      expect(follower.events.filter((event) => event.type.startsWith('$'))).toEqual([]);
    });

    test('selects by a pattern of stream names', async () => {
      const category = newCategory();
      const wanted = await appendAt(`${category}-7`);
      await appendAt(`${category}-x`);
      const follower = followAll('start', streamNameFilter({ regex: `^${category}-\\d+$` }));
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(idsOf(follower.events)).toEqual(wanted.ids);
    });

    test('sends checkpoints when no event matches', async () => {
      const start = await appendAt(newStream());
      const { position: end } = await appendAt(newStream(), 530);
      const filter = streamNameFilter({
        prefixes: [newCategory()],
        checkpointInterval: 2,
        maxSearchWindow: 50,
      });
      const follower = followAll(start.position, filter);
      await follower.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      expect(follower.events).toEqual([]);
      expect(follower.checkpoints.length).toBeGreaterThanOrEqual(3);
      const commits = follower.checkpoints.map((position) => position.commit);
      expect(commits).toEqual(commits.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(follower.trace.indexOf('caughtUp')).toBeGreaterThan(follower.trace.indexOf('checkpoint'));
      // The last checkpoint before `caughtUp` leaves fewer events behind it than lie between two.
      const rest = client.readAll({ fromPosition: follower.checkpoints.at(-1) ?? 'start', maxCount: 200 });
      let left = 0;
      for await (const { event } of rest) if (event && event.position.commit <= end.commit) left += 1;
      expect(left).toBeLessThanOrEqual(2 * 50 + 1);
    });

    test('resumes from a checkpoint without a gap or a repetition', async () => {
      const category = newCategory();
      for (let round = 0; round < 10; round += 1) {
        await appendAt(`${category}-1`, 2);
        await appendAt(newStream(), 20);
      }
      const filter = () =>
        streamNameFilter({ prefixes: [category], checkpointInterval: 1, maxSearchWindow: 10 });
      const first = followAll('start', filter());
      await first.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
      const whole = idsOf(await readWhole(client, `${category}-1`));
      expect(idsOf(first.events)).toEqual(whole);
      const ownCheckpoints = first.checkpoints.filter(
        (_, index) => index % Math.max(1, Math.floor(first.checkpoints.length / 5)) === 0,
      );
      for (const checkpoint of ownCheckpoints) {
        const rest = followAll(checkpoint, filter());
        await rest.until((seen) => seen.count('caughtUp') === 1, 'caughtUp');
        const before = first.events.filter((event) => event.position.commit <= checkpoint.commit);
        expect([...idsOf(before), ...idsOf(rest.events)]).toEqual(whole);
      }
    });
  });
}
