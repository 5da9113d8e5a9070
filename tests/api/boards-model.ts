/**
 * The rules of collections, saved items and notes, written down once more as plainly as they can be: no facts, no
 * streams, no read models. What the service answers is held against it.
 */

export type ModelMember = { readonly id: string; readonly mayAll: boolean };
export type ModelItem = { readonly item_type: string; readonly item_key: string };
export type ModelSubject = { readonly subject_type: string; readonly subject_key: string };

type Placed = ModelItem & { readonly created_by: string };
type ModelBoard = {
  readonly id: string;
  readonly created_by: string;
  name: string;
  description: string | null;
  parent_id: string | null;
  visibility: string;
  editors: readonly string[];
  /** Newest first. */
  items: Placed[];
  /** Counts up with every change of anything. */
  changed: number;
  deleted: boolean;
};
type ModelNote = ModelSubject & {
  readonly created_by: string;
  body: string;
  changed: number;
};

export type NewBoard = {
  readonly name: string;
  readonly description: string | null;
  readonly parent_id: string | null;
  readonly visibility: string;
  readonly editors: readonly string[];
  readonly first_item?: ModelItem;
};
export type BoardChange = Partial<Omit<NewBoard, 'first_item'>>;

const same = (one: ModelItem, other: ModelItem): boolean =>
  one.item_type === other.item_type && one.item_key === other.item_key;

/** What a request answers: its status, and whether it took something away. */
export type Outcome = { readonly status: number; readonly removed?: boolean };

export const createBoardsModel = () => {
  const boards: ModelBoard[] = [];
  let saved: Placed[] = [];
  let notes: ModelNote[] = [];
  let changes = 0;
  const next = (): number => (changes += 1);

  const find = (id: string | null): ModelBoard | undefined => boards.find((board) => board.id === id);
  const isOwn = (board: ModelBoard, by: ModelMember): boolean =>
    board.created_by === by.id || board.editors.includes(by.id);
  const sees = (board: ModelBoard | undefined, by: ModelMember): board is ModelBoard => {
    if (!board) return false;
    if (isOwn(board, by)) return true;
    return board.visibility === 'workspace' && (board.parent_id === null || sees(find(board.parent_id), by));
  };
  const live = (id: string, by: ModelMember): ModelBoard | undefined => {
    const board = find(id);
    return sees(board, by) && !board.deleted ? board : undefined;
  };
  const isInside = (board: ModelBoard | undefined, id: string): boolean =>
    board !== undefined && (board.id === id || isInside(find(board.parent_id), id));
  const editorsOf = (editors: readonly string[], creator: string): readonly string[] =>
    [...new Set(editors)].filter((editor) => editor !== creator).toSorted();

  return {
    create: (by: ModelMember, id: string, { first_item, ...board }: NewBoard): Outcome => {
      if (board.parent_id !== null && !live(board.parent_id, by)) return { status: 404 };
      const items = first_item ? [{ ...first_item, created_by: by.id }] : [];
      const editors = editorsOf(board.editors, by.id);
      boards.push({ ...board, id, created_by: by.id, editors, items, changed: next(), deleted: false });
      return { status: 201 };
    },

    change: (by: ModelMember, id: string, change: BoardChange): Outcome => {
      const board = live(id, by);
      if (!board) return { status: 404 };
      const { parent_id = board.parent_id, visibility = board.visibility } = change;
      const editors = change.editors ? editorsOf(change.editors, board.created_by) : board.editors;
      if (parent_id !== board.parent_id && parent_id !== null) {
        if (!live(parent_id, by)) return { status: 404 };
        if (isInside(find(parent_id), id)) return { status: 409 };
      }
      const rights = visibility !== board.visibility || editors.join() !== board.editors.join();
      if (rights && board.created_by !== by.id && !by.mayAll) return { status: 403 };
      if (!sees({ ...board, parent_id, visibility, editors }, by)) return { status: 409 };
      const before = JSON.stringify(board);
      Object.assign(board, change, { editors });
      if (JSON.stringify(board) !== before) board.changed = next();
      return { status: 200 };
    },

    delete: (by: ModelMember, id: string): Outcome => {
      const board = find(id);
      if (!sees(board, by)) return { status: 404 };
      if (board.deleted) return { status: 200, removed: false };
      for (const one of boards) if (isInside(one, id)) one.deleted = true;
      return { status: 200, removed: true };
    },

    add: (by: ModelMember, id: string, item: ModelItem): Outcome => {
      const board = live(id, by);
      if (!board) return { status: 404 };
      if (!board.items.some((one) => same(one, item))) {
        board.items.unshift({ ...item, created_by: by.id });
        board.changed = next();
      }
      return { status: 201 };
    },

    remove: (by: ModelMember, id: string, item: ModelItem): Outcome => {
      const board = live(id, by);
      if (!board) return { status: 404 };
      const removed = board.items.some((one) => same(one, item));
      board.items = board.items.filter((one) => !same(one, item));
      if (removed) board.changed = next();
      return { status: 200, removed };
    },

    save: (by: ModelMember, item: ModelItem): Outcome => {
      if (!saved.some((one) => same(one, item))) saved = [{ ...item, created_by: by.id }, ...saved];
      return { status: 201 };
    },

    unsave: (item: ModelItem): Outcome => {
      const removed = saved.some((one) => same(one, item));
      saved = saved.filter((one) => !same(one, item));
      return { status: 200, removed };
    },

    write: (by: ModelMember, subject: ModelSubject, body: string): Outcome => {
      if (subject.subject_type === 'collection' && !live(subject.subject_key, by)) return { status: 404 };
      const { subject_type, subject_key } = subject;
      const own = notes.find(
        (note) =>
          note.created_by === by.id && note.subject_type === subject_type && note.subject_key === subject_key,
      );
      if (!own) notes.push({ ...subject, body, created_by: by.id, changed: next() });
      else if (own.body !== body) Object.assign(own, { body, changed: next() });
      return { status: 201 };
    },

    erase: (by: ModelMember, author: string, subject: ModelSubject): Outcome => {
      const note = notes.find(
        (one) =>
          one.created_by === author &&
          one.subject_type === subject.subject_type &&
          one.subject_key === subject.subject_key,
      );
      const isOnUnseen = subject.subject_type === 'collection' && !live(subject.subject_key, by);
      if (!note || (author !== by.id && isOnUnseen)) return { status: 200, removed: false };
      if (author !== by.id && !by.mayAll) return { status: 403 };
      notes = notes.filter((one) => one !== note);
      return { status: 200, removed: true };
    },

    collectionsOf: (by: ModelMember) =>
      boards
        .filter((board) => live(board.id, by))
        .toSorted((one, other) => other.changed - one.changed)
        .map((board) => {
          const { changed: _, deleted: __, ...shown } = board;
          const parent_id = sees(find(board.parent_id), by) ? board.parent_id : null;
          return { ...shown, parent_id, item_count: board.items.length };
        }),

    saved: () => saved,

    notesOf: (by: ModelMember) =>
      notes
        .filter((note) => note.subject_type !== 'collection' || live(note.subject_key, by))
        .toSorted((one, other) => other.changed - one.changed)
        .map((note) => {
          const { changed: _, ...shown } = note;
          return shown;
        }),
  };
};
export type BoardsModel = ReturnType<typeof createBoardsModel>;
