import fc from 'fast-check';
import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import {
  type Snapshot,
  type SnapshotTable,
  SNAPSHOT_EVENTS,
  withSnapshots,
} from '#application/commands/snapshots/with-snapshots.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { recorded } from '../../dsl/projections.ts';
import { runs } from '../../property-seed.ts';
import { fixedHistory, HISTORIES, historyArbitrary } from './histories.ts';

const STREAM = 'tracking-ws_1';
const LENGTH = 1_000;

const openLog = (events: readonly Event[]) => {
  const log = { events: recorded(events.map((event) => ({ stream: STREAM, event }))), read: 0 };
  const read = async function* <E extends Event>(_: string, after = -1n): AsyncGenerator<RecordedEvent<E>> {
    for (const event of log.events.slice(Number(after) + 1)) {
      log.read += 1;
      yield event as RecordedEvent<E>;
    }
  };
  const eventStore = {
    read,
    load: async (stream, fold, from) => {
      let loaded = from ?? { state: fold.initial, revision: -1n, position: 0n };
      for await (const event of read(stream, loaded.revision)) {
        const { revision, position, id: eventId } = event;
        loaded = { state: fold.evolve(loaded.state, event as never), revision, position, eventId };
      }
      return loaded;
    },
    append: async (stream, expected, appended) => {
      expect(expected).toBe(BigInt(log.events.length - 1));
      const all = [...log.events, ...appended].map(({ type, data }) => ({ stream, event: { type, data } }));
      log.events = recorded(all);
      const eventId = log.events.at(-1)?.id;
      return { revision: BigInt(all.length - 1), position: BigInt(all.length) * 100n, eventId };
    },
  } satisfies Partial<EventStore> as Partial<EventStore> as EventStore;
  return { log, eventStore };
};

const openTable = () => {
  const rows = new Map<string, Snapshot>();
  const table: SnapshotTable = {
    find: async (stream, version) => {
      const row = rows.get(stream);
      return row?.version === version ? row : null;
    },
    store: async (snapshot) => void rows.set(snapshot.stream, snapshot),
    remove: async ({ stream }) => void rows.delete(stream),
  };
  return { rows, table };
};

const silent = { warn: () => undefined } as never;
const brands = (count: number): Event[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'BrandTracked',
    data: { workspace_id: 'ws_1', brand_id: `b${index % 50}`, cadence: 'daily', tracked_at: `${index}` },
  }));

const openWithSnapshot = async () => {
  const { log, eventStore } = openLog(brands(LENGTH));
  const { rows, table } = openTable();
  const open = () => withSnapshots(eventStore, table, silent);
  const expected = await eventStore.load(STREAM, tracking);
  await open().load(STREAM, tracking);
  log.read = 0;
  return { log, rows, open, expected };
};

describe('snapshots of every decider', () => {
  test.each(Object.entries(HISTORIES))(
    'give the state of %s that a fold from the start gives, wherever they are taken',
    (_, of) => {
      const { decider } = of;
      const codec = decider.snapshot;
      if (!codec) throw new Error('this decider has no snapshots');
      fc.assert(
        fc.property(historyArbitrary(of), fc.nat(), (events, drawn) => {
          const at = drawn % (events.length + 1);
          const before = events.slice(0, at).reduce(decider.evolve, decider.initial);
          const restored = codec.decode(JSON.parse(JSON.stringify(codec.encode(before))));
          expect(restored).toEqual(before);
          const after = events.slice(at);
          const folded = after.reduce(decider.evolve, before);
          const continued = after.reduce(decider.evolve, restored);
          // Equal JSON also means equal order, on which decisions such as `revokeUnusedApiKeys` depend.
          expect(JSON.stringify(codec.encode(continued))).toBe(JSON.stringify(codec.encode(folded)));
        }),
        { numRuns: runs(40) },
      );
    },
  );

  /**
   * When a digest differs, state or `evolve` changed: raise `version` of its snapshots, so that stored ones are
   * ignored.
   */
  const DIGESTS: Readonly<Record<string, readonly [version: number, digest: string]>> = {
    apiKeys: [3, 'b5286f32d86bb293'],
    tracking: [1, 'a6ed12e22128e142'],
    collectionTree: [2, 'c8ba6d0cceb14970'],
    collectionItems: [3, '9f2135f38d217e90'],
    note: [1, '3c1ba58ba0d29bd1'],
    saved: [1, 'e8202e4564699833'],
    alertRule: [1, 'b5105e36061e5696'],
    brief: [2, '92aaf19b3340af8a'],
    webhookSecret: [1, 'd2014d0e95e33044'],
    signIn: [2, '5d22deec260c73f4'],
    workspace: [1, '2e68f7b8dd51476f'],
  };

  test.each(Object.entries(HISTORIES))('of %s have a new version when its fold changes', (name, of) => {
    const { decider } = of;
    const state = fixedHistory(of).reduce(decider.evolve, decider.initial);
    const digest = hash('sha256', JSON.stringify(decider.snapshot?.encode(state)), 'hex').slice(0, 16);
    expect([name, decider.snapshot?.version, digest]).toEqual([name, ...(DIGESTS[name] ?? [])]);
  });
});

describe('withSnapshots', () => {
  test('loads a long stream from its snapshot, and reads few events', async () => {
    const { log, open, expected } = await openWithSnapshot();
    expect(await open().load(STREAM, tracking)).toEqual(expected);
    // The event of the snapshot proves that it belongs to this log.
    expect(log.read).toBe(1);
  });

  test('folds the events after the snapshot', async () => {
    const { log, open } = await openWithSnapshot();
    log.events = recorded(brands(LENGTH + 10).map((event) => ({ stream: STREAM, event })));
    const { state, revision } = await open().load(STREAM, tracking);
    expect(revision).toBe(BigInt(LENGTH + 9));
    expect(state.brands.get(`b${(LENGTH + 9) % 50}`)?.tracked_at).toBe(String(LENGTH + 9));
    expect(log.read).toBe(11);
  });

  test('stores no snapshot of a short stream, and loads an empty one', async () => {
    const { eventStore } = openLog(brands(SNAPSHOT_EVENTS - 1));
    const { rows, table } = openTable();
    const { revision } = await withSnapshots(eventStore, table, silent).load(STREAM, tracking);
    expect([revision, rows.size]).toEqual([BigInt(SNAPSHOT_EVENTS - 2), 0]);
    const empty = await withSnapshots(openLog([]).eventStore, table, silent).load(STREAM, tracking);
    expect(empty).toEqual({ state: tracking.initial, revision: -1n, position: 0n });
  });

  test.each<[string, (row: Snapshot) => Snapshot]>([
    ['of another version', (row) => ({ ...row, version: row.version + 1 })],
    ['of another log', (row) => ({ ...row, eventId: '00000000-0000-4000-8000-000000000000' })],
    ['beyond the end of the stream', (row) => ({ ...row, revision: row.revision + 5n })],
    ['that is no JSON', (row) => ({ ...row, state: row.state.slice(1) })],
    ['of another shape', (row) => ({ ...row, state: '{"brands":3}' })],
  ])('ignores a snapshot %s, and stores a valid one', async (_, spoil) => {
    const { rows, open, expected } = await openWithSnapshot();
    const row = rows.get(STREAM);
    if (!row) throw new Error('no snapshot was stored');
    rows.set(STREAM, spoil(row));
    expect(await open().load(STREAM, tracking)).toEqual(expected);
    await expect.poll(() => rows.get(STREAM)).toEqual(row);
  });

  test('loads from the log while the table fails, and stores again after it was dropped', async () => {
    const { rows, open, expected } = await openWithSnapshot();
    const { eventStore } = openLog(brands(LENGTH));
    const fails = () => Promise.reject(new Error('the table is gone'));
    const failing = withSnapshots(eventStore, { find: fails, store: fails, remove: fails }, silent);
    expect(await failing.load(STREAM, tracking)).toEqual(expected);
    rows.clear();
    expect(await open().load(STREAM, tracking)).toEqual(expected);
    await expect.poll(() => rows.size).toBe(1);
  });

  test('stores a snapshot of a stream that grows by commands on a cached state', async () => {
    const { eventStore } = openLog([]);
    const { rows, table } = openTable();
    const store = withSnapshots(eventStore, table, silent);
    const metadata = eventMetadata({ actor: serviceActor('t'), correlationId: 'c', causationId: 'c' });
    let loaded = await store.load(STREAM, tracking);
    for (const [index, event] of brands(3 * SNAPSHOT_EVENTS).entries()) {
      const decision = () => [event as never];
      const command = { stream: STREAM, decider: tracking, decision, metadata, commandId: `c${index}` };
      loaded = await executeCommand(store, command, loaded);
    }
    expect(rows.get(STREAM)?.revision).toBeGreaterThan(BigInt(SNAPSHOT_EVENTS));
  });
});
