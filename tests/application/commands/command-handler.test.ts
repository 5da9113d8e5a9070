import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import {
  createCommandHandler,
  type CommandHandler,
  eventMetadata,
  serviceActor,
  CALLER_CONFLICTS,
  handleCommand,
  SCAN_CONFLICTS,
} from '#application/commands/command-handler.ts';
import type { Decider } from '#domain/decider.ts';
import { EventStoreSilent } from '#platform/event-store/errors.ts';
import { type EventStore, StreamMoved } from '#platform/event-store/event-store.ts';

type Counted = Event<'Counted', { readonly by: number }>;
const counter: Decider<number, Counted> = { initial: 0, evolve: (sum, { data }) => sum + data.by };
const counted = (by: number): Counted => ({ type: 'Counted', data: { by } });

/** Log in memory that counts reads. Another writer can append before the next append. */
const createLog = () => {
  const streams = new Map<string, Counted[]>();
  const log = { reads: 0, rival: [] as Counted[], streams };
  const eventsOf = (stream: string): Counted[] => {
    const events = streams.get(stream) ?? [];
    streams.set(stream, events);
    return events;
  };
  const eventStore = {
    load: async (stream, fold, from) => {
      log.reads += 1;
      const events = eventsOf(stream);
      const first = Number(from?.revision ?? -1n) + 1;
      const state = events
        .slice(first)
        .reduce((sum, event) => fold.evolve(sum, event as never), from?.state ?? fold.initial);
      return { state, revision: BigInt(events.length - 1), position: BigInt(events.length) };
    },
    append: async (stream, expected, appended, _metadata, ids) => {
      const events = eventsOf(stream);
      events.push(...log.rival.splice(0, 1));
      if (BigInt(events.length - 1) !== expected) throw new StreamMoved(stream);
      events.push(...(appended as Counted[]));
      return {
        revision: BigInt(events.length - 1),
        position: BigInt(events.length),
        eventId: `last of ${String(ids)}`,
      };
    },
    waitFor: (work) => work,
  } satisfies Partial<EventStore> as Partial<EventStore> as EventStore;
  return { ...log, log, eventStore };
};

let log: ReturnType<typeof createLog>['log'];
let handler: CommandHandler;
beforeEach(() => {
  const created = createLog();
  ({ log } = created);
  handler = createCommandHandler(created.eventStore);
});

const STREAM = 'counter-a';
const metadata = eventMetadata({ actor: serviceActor('tests'), correlationId: 'c', causationId: 'c' });
const execute = (
  decision: (sum: number) => readonly Counted[],
  options: { readonly mayRepeat?: boolean; readonly isShared?: boolean } = {},
) =>
  handler.execute({
    stream: STREAM,
    decider: counter,
    decision,
    metadata,
    commandId: randomUUID(),
    mayRepeat: false,
    ...options,
  });

describe('a command', () => {
  test('appends the decided events and returns state, events and position', async () => {
    expect(await execute(() => [counted(2), counted(3)])).toEqual({
      state: 5,
      events: [counted(2), counted(3)],
      revision: 1n,
      position: 2n,
      eventId: expect.any(String) as string,
    });
  });

  test('appends nothing when the decision has no events, and returns the position of the state', async () => {
    await execute(() => [counted(2)]);
    expect(await execute(() => [])).toEqual({ state: 2, events: [], revision: 0n, position: 1n });
  });

  test('is decided again on the new state when another writer appends first', async () => {
    log.rival = [counted(10), counted(10)];
    const seen: number[] = [];
    const { state } = await execute((sum) => {
      seen.push(sum);
      return [counted(1)];
    });
    expect(seen).toEqual([0, 10, 20]);
    expect(state).toBe(21);
  });

  test('is refused when other writers never stop', async () => {
    log.rival = Array.from({ length: 100 }, () => counted(1));
    await expect(execute(() => [counted(1)])).rejects.toMatchObject({ code: 'changed_meanwhile' });
    expect(log.rival).toHaveLength(100 - CALLER_CONFLICTS.retries - 1);
  });

  test('on a shared stream is decided on the cached state, without reading', async () => {
    await execute(() => [counted(2)], { isShared: true });
    log.reads = 0;
    expect((await execute((sum) => [counted(sum)], { isShared: true })).state).toBe(4);
    expect(log.reads).toBe(0);
  });

  test('reads the stream when the cached state is stale, or refuses', async () => {
    await execute(() => [counted(2)], { isShared: true });
    log.streams.get(STREAM)?.push(counted(5));
    const atLeastSeven = (sum: number): readonly Counted[] => {
      if (sum < 7) throw new Refusal('already_exists', 'Too small.');
      return [counted(1)];
    };
    expect((await execute(atLeastSeven, { isShared: true })).state).toBe(8);
    await expect(
      execute(() => {
        throw new Refusal('already_exists', 'Never.');
      }),
    ).rejects.toThrow('Never.');
  });

  test('that may be a repetition neither uses the cache nor fills it', async () => {
    await execute(() => [counted(2)], { isShared: true });
    log.reads = 0;
    await execute(() => [counted(1)], { isShared: true, mayRepeat: true });
    // One read looks for an earlier attempt, one loads the state.
    expect(log.reads).toBe(2);
    log.reads = 0;
    // The cached state is stale, so the next command reads.
    await execute(() => [counted(1)], { isShared: true });
    expect(log.reads).toBe(1);
  });

  test('waits for the one before it on the same stream', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => execute((sum) => [counted(sum + 1)])));
    expect(results.map(({ state }) => state)).toEqual(
      Array.from({ length: 20 }, (_, index) => 2 ** (index + 1) - 1),
    );
  });

  test('that was refused while it waited for those before it is not recorded when its turn comes', async () => {
    const { log: kept, eventStore } = createLog();
    const isBusy = Promise.withResolvers<void>();
    const slow = createCommandHandler({
      ...eventStore,
      load: async (...load) => {
        await isBusy.promise;
        return eventStore.load(...load);
      },
      waitFor: () => Promise.reject(new EventStoreSilent(1)),
    });
    const command = { stream: STREAM, decider: counter, metadata, mayRepeat: false };
    const first = slow.execute({ ...command, decision: () => [counted(1)], commandId: randomUUID() });
    const second = slow.execute({ ...command, decision: () => [counted(2)], commandId: randomUUID() });
    await expect(second).rejects.toBeInstanceOf(EventStoreSilent);
    isBusy.resolve();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(kept.streams.get(STREAM)).toEqual([counted(1)]);
  });
});

test('a custom state store is loaded, appended to in groups, and committed once', async () => {
  const calls: string[] = [];
  let conflicts = 0;
  await handleCommand<string, Counted>({
    store: {
      load: async (lost) => {
        calls.push(`load ${lost}`);
        return 'state';
      },
      append: async ([event]) => {
        calls.push(`append ${event?.data.by}`);
        if (event?.data.by === 2 && conflicts++ === 0) throw new StreamMoved('x');
      },
      commit: async () => {
        calls.push('commit');
        return null;
      },
    },
    decide: async function* () {
      yield [counted(1)];
      yield [counted(2)];
    },
    conflicts: SCAN_CONFLICTS,
  });
  expect(calls).toEqual(['load 0', 'append 1', 'append 2', 'load 1', 'append 1', 'append 2', 'commit']);
});
