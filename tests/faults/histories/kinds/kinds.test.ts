import { describe, expect, test } from 'vitest';
import type { CollectionTreeEvent } from '#contracts/events/workspace/collection.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { type NoteEvent, noteStream } from '#contracts/events/workspace/note.ts';
import type { ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import { noteIdOf } from '#domain/workspace/note.ts';
import { type Read, type Shown, tellCalls, unanswered, type Write } from '../history.ts';
import { brokenUses, type KeyUse } from '../key-uses.ts';
import { isLinearizable, smallestUnexplained } from '../linearizability.ts';
import { doubledEvents } from '../record.ts';
import { brokenReads, smallestBroken } from '../session-reads.ts';
import { apiKeysOf, type KeyOperation, type KeyOutcome, type KeyWrite } from './api-keys.ts';
import { type CollectionOperation, type CollectionOutcome, collectionsOf } from './collections.ts';
import type { Kind } from './kind.ts';
import { type NoteOperation, type NoteOutcome, notesOf } from './notes.ts';

/** Broken histories, which the models must refuse. */

const AT = Date.parse('2026-11-01T00:00:00.000Z');
const time = (ms: number): string => new Date(AT + ms).toISOString();
const workspace_id = 'ws';
const OWNER = { workspaceId: workspace_id, memberId: 'mem', keyId: 'key_own' };

type Named = { readonly kind: string };
type Span = readonly [sent: number, ended: number];

/** Builds a call. `null`: unknown outcome. */
const call = <Operation extends Named, Outcome extends Named>(
  operation: Operation,
  [sent, ended]: Span,
  outcome: Outcome | null,
): Write<Operation, Outcome> => {
  const known = { caller: 0, sentMs: AT + sent, endedMs: AT + ended, position: null, operation };
  return outcome === null ? unanswered({ ...known, outcome: { kind: 'unknown' } }) : { ...known, outcome };
};

const recorded = <E extends Event>(stream: string, events: readonly E[]): RecordedEvent<E>[] =>
  events.map((event, at) => ({
    ...event,
    stream,
    revision: BigInt(at),
    position: BigInt(10 * (at + 1)),
    recordedAt: new Date(AT),
    id: `event ${at}`,
    metadata: {
      $correlationId: '',
      $causationId: '',
      request_id: '',
      actor: { kind: 'api_key', id: '' },
      schema_version: 1,
    },
  }));

const objectsOf = <Operation extends Named, Outcome extends Named, State, E extends Event>(
  kind: Kind<Operation, Outcome, State, E>,
  writes: readonly Write<Operation, Outcome>[],
  stream: string,
  events: readonly E[],
) => kind.objectsOf(writes, recorded(stream, events));

const holdsIn =
  <Operation extends Named, Outcome extends Named, State, E extends Event>(
    kind: Kind<Operation, Outcome, State, E>,
    stream: string,
  ) =>
  (writes: readonly Write<Operation, Outcome>[], events: readonly E[]): boolean =>
    objectsOf(kind, writes, stream, events).every(({ model, calls }) => isLinearizable(model, calls));

const reasonsOf = <E extends Event>(
  kind: Pick<Kind<Named, Named, unknown, E>, 'prefixesOf'>,
  events: readonly E[],
  { shown, isWhole }: Pick<Read, 'shown' | 'isWhole'>,
): readonly (string | undefined)[] => {
  const own: Write = { ...call({ kind: 'write' }, [0, 10], { kind: 'written' }), position: 10n };
  const read: Read = { caller: 0, sentMs: AT + 10, endedMs: AT + 11, shown, isWhole };
  const streams = {
    prefixes: kind.prefixesOf(events),
    positions: events.map((_, at) => BigInt(10 * (at + 1))),
  };
  const history = { writes: [own], reads: [read] };
  const broken = brokenReads(history, streams).map((line) => /: (the [^;]+);/.exec(line)?.[1]);
  if (broken.length > 0) expect(smallestBroken(history, streams).reads).toEqual([read]);
  return broken;
};

describe('notes', () => {
  const AD = '1000000001';
  const note_id = noteIdOf(OWNER.workspaceId, OWNER.memberId, { subject_type: 'ad', subject_key: AD });
  const kind = notesOf(OWNER);
  const stream = noteStream(workspace_id, note_id);
  const holds = holdsIn(kind, stream);
  const write = (body: string, span: Span, isAnswered = true) =>
    call<NoteOperation, NoteOutcome>(
      { kind: 'write', ad: AD, body },
      span,
      isAnswered ? { kind: 'written' } : null,
    );
  const remove = (span: Span, removed: boolean) =>
    call<NoteOperation, NoteOutcome>({ kind: 'delete', ad: AD }, span, { kind: 'deleted', removed });
  const written = (body: string, ms: number): NoteEvent => ({
    type: 'NoteWritten',
    data: {
      workspace_id,
      note_id,
      subject_type: 'ad',
      subject_key: AD,
      body,
      written_by: OWNER.memberId,
      written_at: time(ms),
    },
  });
  const replaced = (body: string, ms: number): NoteEvent => ({
    type: 'NoteReplaced',
    data: { workspace_id, note_id, body, replaced_at: time(ms) },
  });
  const deleted = (ms: number): NoteEvent => ({
    type: 'NoteDeleted',
    data: { workspace_id, note_id, deleted_by: OWNER.memberId, deleted_at: time(ms) },
  });

  test('are explained by the events of their stream, in any order of the answers', () => {
    const slow = write('a', [0, 90]);
    expect(holds([slow, write('b', [20, 30])], [written('b', 25), replaced('a', 60)])).toBe(true);
    expect(holds([slow, write('b', [20, 30])], [written('a', 5), replaced('b', 25)])).toBe(true);
    expect(holds([slow, remove([20, 30], true)], [written('a', 5), deleted(25)])).toBe(true);
    expect(holds([slow, remove([20, 30], false)], [written('a', 60)])).toBe(true);
    expect(holds([slow, write('a', [20, 30])], [written('a', 25)])).toBe(true);
  });

  test('refuse a lost acknowledged write, a doubled one, and one that nothing asked for', () => {
    const slow = write('a', [0, 90]);
    expect(holds([slow], [])).toBe(false);
    expect(holds([slow, write('b', [20, 30])], [written('b', 25)])).toBe(false);
    const twice = [written('a', 5), replaced('b', 25), replaced('a', 60)];
    expect(holds([slow, write('b', [20, 30])], twice)).toBe(false);
    expect(holds([write('a', [0, 0], false), write('b', [20, 30])], twice)).toBe(false);
    expect(holds([slow], [written('a', 5), deleted(30)])).toBe(false);
  });

  test('refuse wrong answers, and an order against the order of time', () => {
    expect(holds([write('a', [0, 10]), remove([20, 30], false)], [written('a', 5)])).toBe(false);
    expect(holds([remove([0, 10], true), write('a', [20, 30])], [written('a', 25)])).toBe(false);
    const [first, second] = [write('a', [0, 10]), write('b', [20, 30])];
    expect(holds([first, second], [written('a', 5), replaced('b', 25)])).toBe(true);
    expect(holds([first, second], [written('b', 25), replaced('a', 5)])).toBe(false);
    expect(holds([first], [written('a', 12)])).toBe(false);
  });

  test('take an unknown write for done once, later or never', () => {
    const unknown = write('a', [0, 0], false);
    expect(holds([unknown], [])).toBe(true);
    expect(holds([unknown], [written('a', 500)])).toBe(true);
    expect(holds([unknown, remove([20, 30], true)], [written('a', 5), deleted(25)])).toBe(true);
    expect(holds([unknown, remove([20, 30], true)], [])).toBe(false);
  });

  test('that are refused are reduced to the answers that contradict each other', () => {
    const writes = [...[0, 20, 40].map((ms) => write(`text ${ms}`, [ms, ms + 10])), remove([60, 70], false)];
    const events = [written('text 0', 5), replaced('text 20', 25), replaced('text 40', 45)];
    const [object] = objectsOf(kind, writes, stream, events);
    const least = smallestUnexplained(object as NonNullable<typeof object>, [], unanswered);
    expect(least.filter(({ outcome }) => outcome.kind !== 'unknown')).toHaveLength(2);
    expect(tellCalls(least)).toContain('deleted false');
  });

  test('show what their caller wrote, in lists and in the reply to the write', () => {
    const events = [written('a', 5), replaced('b', 25)];
    const shown = (body: string, updatedMs: number): Shown =>
      new Map([[note_id, JSON.stringify({ body, created_at: time(5), updated_at: time(updatedMs) })]]);
    for (const isWhole of [true, false]) {
      expect(reasonsOf(kind, events, { shown: shown('a', 5), isWhole })).toEqual([]);
      expect(reasonsOf(kind, events, { shown: shown('b', 25), isWhole })).toEqual([]);
      expect(reasonsOf(kind, events, { shown: shown('b', 26), isWhole })).toEqual([
        'the stream was never like this',
      ]);
    }
    expect(reasonsOf(kind, events, { shown: new Map(), isWhole: true })).toEqual([
      'the caller wrote more before, 1 events',
    ]);
    const rewritten = [deleted(25), written('a', 30)];
    expect(reasonsOf(kind, [replaced('b', 2), ...rewritten], { shown: new Map(), isWhole: true })).toEqual(
      [],
    );
  });
});

describe('collections', () => {
  const kind = collectionsOf(OWNER);
  const holds = holdsIn(kind, `collection-${workspace_id}`);
  const create = (name: string, span: Span, id: string | null, inside: string | null = null) =>
    call<CollectionOperation, CollectionOutcome>(
      { kind: 'create', name, inside },
      span,
      id === null ? null : { kind: 'created', id },
    );
  const rename = (id: string, name: string, span: Span, kindOfOutcome: 'renamed' | 'refused') =>
    call<CollectionOperation, CollectionOutcome>({ kind: 'rename', id, name }, span, { kind: kindOfOutcome });
  const remove = (id: string, span: Span, removed: boolean) =>
    call<CollectionOperation, CollectionOutcome>({ kind: 'delete', id }, span, { kind: 'deleted', removed });
  const by = { workspace_id, changed_by: OWNER.memberId };
  const created = (collection_id: string, name: string, ms: number, parent_id: string | null = null) => ({
    type: 'CollectionCreated' as const,
    data: {
      workspace_id,
      collection_id,
      name,
      description: null,
      parent_id,
      visibility: 'workspace' as const,
      first_item: null,
      editors: [],
      created_by: OWNER.memberId,
      created_at: time(ms),
    },
  });
  const renamed = (collection_id: string, name: string, ms: number): CollectionTreeEvent => ({
    type: 'CollectionRenamed',
    data: { ...by, collection_id, changed_at: time(ms), name },
  });
  const deleted = (collection_id: string, ms: number, ...inside: string[]): CollectionTreeEvent => ({
    type: 'CollectionDeleted',
    data: { workspace_id, collection_id, inside, deleted_by: OWNER.memberId, deleted_at: time(ms) },
  });

  test('are explained by the events of their stream, with what is inside them', () => {
    const calls = [
      create('a', [0, 10], 'c1'),
      create('b', [0, 40], 'c2', 'c1'),
      remove('c1', [20, 60], true),
    ];
    const events = [created('c1', 'a', 5), created('c2', 'b', 30, 'c1'), deleted('c1', 50, 'c2')];
    expect(holds(calls, events)).toBe(true);
    expect(holds([...calls, rename('c2', 'z', [70, 80], 'refused')], events)).toBe(true);
    expect(holds([...calls, rename('c2', 'z', [70, 80], 'renamed')], events)).toBe(false);
    expect(holds([...calls, remove('c2', [70, 80], false)], events)).toBe(true);
  });

  test('refuse a lost creation or change, and a doubled one', () => {
    expect(holds([create('a', [0, 10], 'c1')], [])).toBe(false);
    expect(holds([create('a', [0, 10], 'c1')], [created('c2', 'a', 5)])).toBe(false);
    const twice = [created('c1', 'a', 5), created('c2', 'a', 8)];
    expect(holds([create('a', [0, 10], 'c1')], twice)).toBe(false);
    expect(holds([create('a', [0, 0], null)], twice)).toBe(false);
    expect(holds([create('a', [0, 0], null)], [created('c1', 'a', 5)])).toBe(true);
    const calls = [create('a', [0, 10], 'c1'), rename('c1', 'z', [20, 30], 'renamed')];
    expect(holds(calls, [created('c1', 'a', 5), renamed('c1', 'z', 25)])).toBe(true);
    expect(holds(calls, [created('c1', 'a', 5)])).toBe(false);
  });

  test('refuse wrong answers', () => {
    const events = [created('c1', 'a', 5)];
    const first = create('a', [0, 10], 'c1');
    expect(holds([first, rename('c1', 'z', [20, 30], 'refused')], events)).toBe(false);
    expect(holds([first, remove('c1', [20, 30], false)], events)).toBe(false);
    expect(holds([first, rename('c1', 'z', [0, 4], 'refused')], events)).toBe(true);
    const inside = (id: string) =>
      call<CollectionOperation, CollectionOutcome>({ kind: 'create', name: 'b', inside: id }, [12, 18], {
        kind: 'refused',
      });
    const calls = [first, rename('c1', 'z', [20, 30], 'renamed')];
    expect(holds([...calls, inside('c9')], [...events, renamed('c1', 'z', 25)])).toBe(true);
    expect(holds([...calls, inside('c1')], [...events, renamed('c1', 'z', 25)])).toBe(false);
  });

  test('show what their caller wrote', () => {
    const events = [created('c1', 'a', 5), renamed('c1', 'z', 25)];
    const shown = (name: string, updatedMs: number): Shown =>
      new Map([
        ['c1', JSON.stringify({ name, parent_id: null, created_at: time(5), updated_at: time(updatedMs) })],
      ]);
    expect(reasonsOf(kind, events, { shown: shown('a', 5), isWhole: true })).toEqual([]);
    expect(reasonsOf(kind, events, { shown: shown('z', 25), isWhole: false })).toEqual([]);
    expect(reasonsOf(kind, events, { shown: new Map(), isWhole: true })).toEqual([
      'the caller wrote more before, 1 events',
    ]);
  });
});

describe('API keys', () => {
  const kind = apiKeysOf(OWNER);
  const holds = holdsIn(kind, `apiKeys-${workspace_id}`);
  const issue = (name: string, span: Span, outcome: KeyOutcome | null): KeyWrite =>
    call<KeyOperation, KeyOutcome>({ kind: 'issue', name }, span, outcome);
  const rotate = (id: string, span: Span, outcome: KeyOutcome | null): KeyWrite =>
    call<KeyOperation, KeyOutcome>({ kind: 'rotate', id }, span, outcome);
  const revoke = (id: string, span: Span, removed: boolean | null): KeyWrite =>
    call<KeyOperation, KeyOutcome>(
      { kind: 'revoke', id },
      span,
      removed === null ? null : { kind: 'revoked', removed },
    );
  const issued = (key_id: string, name: string, ms: number): ApiKeyEvent => ({
    type: 'ApiKeyIssued',
    data: {
      workspace_id,
      key_id,
      name,
      sha256: `hash of ${key_id}`,
      last_four: 'last',
      scopes: ['me:read'],
      member_id: OWNER.memberId,
      issued_at: time(ms),
    },
  });
  const replacing = (key_id: string, name: string, ms: number, replaces: string): ApiKeyEvent => {
    const event = issued(key_id, name, ms);
    return { ...event, data: { ...event.data, replaces } } as ApiKeyEvent;
  };
  const revoked = (key_id: string, ms: number, reason: 'revoked' | 'rotated' = 'revoked'): ApiKeyEvent => ({
    type: 'ApiKeyRevoked',
    data: { workspace_id, key_id, reason, revoked_at: time(ms) },
  });
  const ofId = (id: string): KeyOutcome => ({ kind: 'issued', id });

  test('are explained by the events of their stream', () => {
    const calls = [
      issue('a', [0, 10], ofId('k1')),
      rotate('k1', [20, 40], ofId('k2')),
      revoke('k2', [30, 60], true),
      rotate('k1', [50, 60], { kind: 'refused' }),
      revoke('k1', [50, 60], false),
    ];
    const events = [
      issued('k1', 'a', 5),
      revoked('k1', 25, 'rotated'),
      replacing('k2', 'a', 25, 'k1'),
      revoked('k2', 55),
    ];
    expect(holds(calls, events)).toBe(true);
    expect(holds([...calls, rotate('k2', [70, 80], ofId('k3'))], events)).toBe(false);
    expect(holds([issue('a', [0, 10], { kind: 'lost' })], [issued('k1', 'a', 5)])).toBe(true);
  });

  test('refuse a lost issue or revocation, and a doubled one', () => {
    const first = issue('a', [0, 10], ofId('k1'));
    expect(holds([first], [])).toBe(false);
    expect(holds([issue('a', [0, 10], { kind: 'lost' })], [])).toBe(false);
    expect(holds([first], [issued('k2', 'a', 5)])).toBe(false);
    expect(holds([first], [issued('k1', 'a', 5), issued('k2', 'a', 8)])).toBe(false);
    expect(holds([first, revoke('k1', [20, 30], true)], [issued('k1', 'a', 5)])).toBe(false);
    expect(holds([first, revoke('k1', [20, 30], false)], [issued('k1', 'a', 5)])).toBe(false);
    const rotatedTwice = [
      issued('k1', 'a', 5),
      revoked('k1', 25, 'rotated'),
      replacing('k2', 'a', 25, 'k1'),
      replacing('k3', 'a', 28, 'k1'),
    ];
    expect(holds([first, rotate('k1', [20, 30], ofId('k2'))], rotatedTwice.slice(0, 3))).toBe(true);
    expect(holds([first, rotate('k1', [20, 30], ofId('k2'))], rotatedTwice)).toBe(false);
  });

  test('show what their caller wrote', () => {
    const events = [issued('k1', 'a', 5), revoked('k1', 25)];
    const shown = (revokedMs: number | null): Shown =>
      new Map([
        [
          'k1',
          JSON.stringify({
            name: 'a',
            created_at: time(5),
            revoked_at: revokedMs === null ? null : time(revokedMs),
          }),
        ],
      ]);
    expect(reasonsOf(kind, events, { shown: shown(null), isWhole: true })).toEqual([]);
    expect(reasonsOf(kind, events, { shown: shown(25), isWhole: false })).toEqual([]);
    expect(reasonsOf(kind, events, { shown: new Map(), isWhole: true })).toEqual([
      'the caller wrote more before, 1 events',
    ]);
  });

  describe('open nothing', () => {
    const use = (key: string, [sent, ended]: Span, outcome: KeyUse['outcome']): KeyUse => ({
      caller: 1,
      key,
      sentMs: AT + sent,
      endedMs: AT + ended,
      outcome,
    });
    const first = issue('a', [0, 10], ofId('k1'));

    test('that was asked for after their revocation or rotation was acknowledged', () => {
      const late = use('k1', [31, 40], 'accepted');
      for (const removal of [
        revoke('k1', [20, 30], true),
        revoke('k1', [20, 30], false),
        rotate('k1', [20, 30], ofId('k2')),
      ]) {
        expect(brokenUses([late], [first, removal])).toEqual([late]);
        expect(brokenUses([use('k1', [29, 40], 'accepted')], [first, removal])).toEqual([]);
        expect(brokenUses([use('k2', [31, 40], 'accepted')], [first, removal])).toEqual([]);
        expect(brokenUses([use('k1', [31, 40], 'rejected')], [first, removal])).toEqual([]);
        expect(brokenUses([use('k1', [31, 40], 'unknown')], [first, removal])).toEqual([]);
      }
      for (const removal of [
        revoke('k1', [20, 30], null),
        rotate('k1', [20, 30], { kind: 'refused' }),
        rotate('k1', [20, 30], { kind: 'lost' }),
      ]) {
        expect(brokenUses([late], [first, removal])).toEqual([]);
      }
    });

    test('and everything before, so a rejection needs a revocation that was sent', () => {
      const rejected = use('k1', [12, 19], 'rejected');
      expect(brokenUses([rejected], [first])).toEqual([rejected]);
      expect(brokenUses([rejected], [first, revoke('k1', [20, 30], true)])).toEqual([rejected]);
      expect(brokenUses([rejected], [first, revoke('k1', [15, 30], true)])).toEqual([]);
      expect(brokenUses([rejected], [first, revoke('k1', [15, 30], null)])).toEqual([]);
    });
  });
});

test('an event that a stream holds twice is named', () => {
  const event = { type: 'NoteDeleted', data: {} };
  const [first, second] = recorded('note-ws+a', [event, event]) as [RecordedEvent, RecordedEvent];
  expect(doubledEvents([first, second])).toEqual([]);
  expect(doubledEvents([first, { ...first, stream: 'note-ws+b' }])).toEqual([]);
  expect(doubledEvents([first, { ...second, id: first.id }])).toEqual([
    'NoteDeleted of note-ws+a event 0: revisions 0, 1',
  ]);
});
