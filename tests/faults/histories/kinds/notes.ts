import { NOTE, type NoteEvent, noteStream } from '#contracts/events/workspace/note.ts';
import { deleteNote, note, type Note, noteIdOf, writeNote } from '#domain/workspace/note.ts';
import type { Shown, Write } from '../history.ts';
import { type Kind, statesOf } from './kind.ts';
import { streamModel, type StreamRules, type StreamState } from './stream-model.ts';

/** Ads to note on: few, so that callers write the same ones at the same time. */
const ADS = ['1000000001', '1000000002'];
const DELETES_OF_100 = 30;
const SAME_TEXTS_OF_100 = 15;

export type NoteOperation =
  | { readonly kind: 'write'; readonly ad: string; readonly body: string }
  | { readonly kind: 'delete'; readonly ad: string };
export type NoteOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'deleted'; readonly removed: boolean };
export type NoteWrite = Write<NoteOperation, NoteOutcome>;

type Owner = { readonly workspaceId: string; readonly memberId: string };

const subjectOf = (ad: string) => ({ subject_type: 'ad', subject_key: ad }) as const;

const timeOf = (event: NoteEvent): string => {
  switch (event.type) {
    case 'NoteWritten':
      return event.data.written_at;
    case 'NoteReplaced':
      return event.data.replaced_at;
    case 'NoteDeleted':
      return event.data.deleted_at;
  }
};

const rulesOf = ({
  workspaceId: workspace_id,
  memberId,
}: Owner): StreamRules<Note, NoteEvent, NoteOperation, NoteOutcome> => ({
  decider: note,
  decide: (state, { operation }, [next]) => {
    const subject = subjectOf(operation.ad);
    const at = next === undefined ? '' : timeOf(next);
    if (operation.kind === 'write') {
      return writeNote({ workspace_id, subject, body: operation.body, by: memberId, at, notes: 0 })(state);
    }
    const note_id = noteIdOf(workspace_id, memberId, subject);
    return deleteNote({ workspace_id, note_id, by: { member_id: memberId, role: 'owner' }, at })(state);
  },
  mayTell: (outcome, decided) => outcome.kind === 'written' || decided?.length === (outcome.removed ? 1 : 0),
  timeOf,
});

type ShownNote = { readonly body: string; readonly created_at: string; readonly updated_at: string };
const textOf = ({ body, created_at, updated_at }: ShownNote): string =>
  JSON.stringify({ body, created_at, updated_at });

const everyNote = {
  initial: new Map<string, NonNullable<Note>>() as ReadonlyMap<string, NonNullable<Note>>,
  evolve: (notes: ReadonlyMap<string, NonNullable<Note>>, event: NoteEvent) => {
    const { note_id } = event.data;
    const after = note.evolve(notes.get(note_id) ?? null, event);
    const others = [...notes].filter(([id]) => id !== note_id);
    return new Map(after === null ? others : [...others, [note_id, after]]);
  },
};

export const notesOf = (owner: Owner): Kind<NoteOperation, NoteOutcome, StreamState<Note>, NoteEvent> => {
  const { workspaceId, memberId } = owner;
  const path = `/v1/workspaces/${workspaceId}/notes`;
  const idOf = (ad: string): string => noteIdOf(workspaceId, memberId, subjectOf(ad));
  return {
    name: 'notes',
    path,
    streams: `${NOTE}-${workspaceId}+`,
    choose: (choose, { text }) => {
      const ad = ADS[choose(ADS.length)] ?? '';
      if (choose(100) < DELETES_OF_100) return { kind: 'delete', ad };
      return { kind: 'write', ad, body: choose(100) < SAME_TEXTS_OF_100 ? 'the same text' : text };
    },
    requestOf: (operation) =>
      operation.kind === 'write'
        ? { method: 'POST', path, body: { ...subjectOf(operation.ad), body: operation.body } }
        : { method: 'DELETE', path: `${path}/${idOf(operation.ad)}`, body: {} },
    outcomeOf: ({ kind }, { status, data }) => {
      if (kind === 'write') return status === 201 ? { kind: 'written' } : null;
      return status === 200 ? { kind: 'deleted', removed: (data as { removed: boolean }).removed } : null;
    },
    recordOf: (data) => [(data as { id: string }).id, textOf(data as ShownNote)],
    showing: new Set(['write']),
    objectsOf: (writes, events) =>
      [...new Set(writes.map(({ operation }) => operation.ad))].map((ad) => ({
        model: streamModel(
          rulesOf(owner),
          events.filter(({ stream }) => stream === noteStream(workspaceId, idOf(ad))),
        ),
        calls: writes.filter(({ operation }) => operation.ad === ad),
        parts: [],
      })),
    prefixesOf: (events): readonly Shown[] =>
      statesOf(everyNote, events).map((notes) => new Map([...notes].map(([id, one]) => [id, textOf(one)]))),
  };
};
