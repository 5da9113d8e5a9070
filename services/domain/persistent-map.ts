/** Bits of the hash that select a child at each level of the tree. */
const LEVEL_BITS = 6;
const CHILDREN = 2 ** LEVEL_BITS;
const HASH_BITS = 32;
/** Maximum entries of a leaf. A larger one becomes a branch, except at the last level, where all hashes are equal. */
const LEAF_ENTRIES_MAX = 16;
const HASH_FACTOR = 31;

type Leaf<Value> = ReadonlyMap<string, Value>;
type Branch<Value> = readonly (Stored<Value> | undefined)[];
type Node<Value> = Leaf<Value> | Branch<Value>;
/** A node of a tree: as it is, or as JSON that no one has needed yet. */
type Stored<Value> = Node<Value> | Encoded<Value>;

/** A node as JSON: keys and values of a leaf in turn, or the children of a branch by their index. */
type NodeJson = readonly unknown[] | { readonly [index: string]: NodeJson };

/**
 * A node that is decoded at its first use. A command needs few leaves of a map, and decoding all of them took most of the
 * time of a command on a stream with 10,000 changes.
 */
class Encoded<Value> {
  readonly #json: NodeJson;
  #node: Node<Value> | undefined;

  constructor(json: NodeJson) {
    this.#json = json;
  }

  node(): Node<Value> {
    this.#node ??= nodeFromJson<Value>(this.#json);
    return this.#node;
  }

  toJson(): NodeJson {
    return this.#json;
  }
}

const nodeOf = <Value>(stored: Stored<Value>): Node<Value> =>
  stored instanceof Encoded ? stored.node() : stored;

const isBranch = <Value>(node: Node<Value>): node is Branch<Value> => Array.isArray(node);

const hashOf = (key: string): number => {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) {
    hash = (Math.imul(hash, HASH_FACTOR) + key.charCodeAt(index)) >>> 0;
  }
  return hash;
};

const childOf = (hash: number, shift: number): number => (hash >>> shift) % CHILDREN;

const EMPTY_BRANCH: Branch<never> = Array.from({ length: CHILDREN }, () => undefined);

/** Returns a branch with the entries of a leaf. */
const split = <Value>(leaf: Leaf<Value>, shift: number): Branch<Value> => {
  const leaves: (Map<string, Value> | undefined)[] = [...EMPTY_BRANCH] as undefined[];
  for (const [key, value] of leaf) {
    const at = childOf(hashOf(key), shift);
    leaves[at] = (leaves[at] ?? new Map<string, Value>()).set(key, value);
  }
  return leaves;
};

const withEntry = <Value>(
  stored: Stored<Value> | undefined,
  hash: number,
  shift: number,
  key: string,
  value: Value,
): Node<Value> => {
  if (stored === undefined) return new Map([[key, value]]);
  const node = nodeOf(stored);
  if (isBranch(node)) {
    const at = childOf(hash, shift);
    return node.with(at, withEntry(node[at], hash, shift + LEVEL_BITS, key, value));
  }
  const leaf = new Map(node).set(key, value);
  return leaf.size > LEAF_ENTRIES_MAX && shift < HASH_BITS ? split(leaf, shift) : leaf;
};

const withoutEntry = <Value>(
  stored: Stored<Value>,
  hash: number,
  shift: number,
  key: string,
): Node<Value> => {
  const node = nodeOf(stored);
  if (isBranch(node)) {
    const at = childOf(hash, shift);
    const child = node[at];
    return child === undefined ? node : node.with(at, withoutEntry(child, hash, shift + LEVEL_BITS, key));
  }
  const leaf = new Map(node);
  leaf.delete(key);
  return leaf;
};

const leafOf = <Value>(root: Branch<Value>, key: string): Leaf<Value> | undefined => {
  const hash = hashOf(key);
  let node: Node<Value> | undefined = root;
  for (let shift = 0; node !== undefined && isBranch(node); shift += LEVEL_BITS) {
    const child: Stored<Value> | undefined = node[childOf(hash, shift)];
    node = child && nodeOf(child);
  }
  return node;
};

const entriesOf = function* <Value>(stored: Stored<Value>): Generator<readonly [string, Value]> {
  const node = nodeOf(stored);
  if (!isBranch(node)) yield* node;
  else for (const child of node) if (child !== undefined) yield* entriesOf(child);
};

const nodeToJson = <Value>(node: Stored<Value>): NodeJson => {
  if (node instanceof Encoded) return node.toJson();
  if (!isBranch(node)) return [...node].flatMap(([key, value]) => [key, value]);
  return Object.fromEntries(
    node.flatMap((child, index) => (child === undefined ? [] : [[index, nodeToJson(child)]])),
  );
};

const nodeFromJson = <Value>(json: NodeJson): Node<Value> => {
  if (Array.isArray(json)) {
    const leaf = new Map<string, Value>();
    for (let index = 0; index < json.length; index += 2)
      leaf.set(json[index] as string, json[index + 1] as Value);
    return leaf;
  }
  const branch: (Stored<Value> | undefined)[] = [...EMPTY_BRANCH];
  for (const [index, child] of Object.entries(json)) branch[Number(index)] = new Encoded(child as NodeJson);
  return branch;
};

/** A map as JSON. */
export type PersistentMapJson = { readonly size: number; readonly root: NodeJson };

/**
 * Immutable map for decider states: a hash trie. A change copies the path to one leaf and shares the rest with the old
 * map, so its cost does not grow with the map. Folding a stream creates a state for every event: with a copy of a whole
 * `Map` each time, a social page with 8,000 links took 13 seconds at every command; with this map it takes less than one.
 *
 * The order of iteration depends only on the keys and the order of changes, so the same events give the same order.
 */
export class PersistentMap<Value> implements Iterable<readonly [string, Value]> {
  readonly size: number;
  /** Private by syntax: equal maps may differ in which nodes are decoded. */
  readonly #root: Branch<Value>;

  private constructor(root: Branch<Value>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<Value>(): PersistentMap<Value> {
    return new PersistentMap<Value>(EMPTY_BRANCH, 0);
  }

  /**
   * Restores the map that `toJson` was called on. It has the same tree, not only the same entries: later changes then give
   * the same order of iteration.
   */
  static fromJson<Value>({ size, root }: PersistentMapJson): PersistentMap<Value> {
    return new PersistentMap<Value>(nodeFromJson<Value>(root) as Branch<Value>, size);
  }

  /** Returns the map as JSON. Values must consist of JSON values. */
  toJson(): PersistentMapJson {
    return { size: this.size, root: nodeToJson(this.#root) };
  }

  get(key: string): Value | undefined {
    return leafOf(this.#root, key)?.get(key);
  }

  has(key: string): boolean {
    return leafOf(this.#root, key)?.has(key) ?? false;
  }

  with(key: string, value: Value): PersistentMap<Value> {
    const root = withEntry(this.#root, hashOf(key), 0, key, value) as Branch<Value>;
    return new PersistentMap(root, this.has(key) ? this.size : this.size + 1);
  }

  without(key: string): PersistentMap<Value> {
    if (!this.has(key)) return this;
    const root = withoutEntry(this.#root, hashOf(key), 0, key) as Branch<Value>;
    return new PersistentMap(root, this.size - 1);
  }

  [Symbol.iterator](): Iterator<readonly [string, Value]> {
    return entriesOf(this.#root);
  }
}

/** A map of the newest entries as JSON. */
export type RecentMapJson = { readonly newer: PersistentMapJson; readonly older: PersistentMapJson };

/**
 * Immutable map of the newest entries, for decider states that may not grow with their stream. It holds at least `kept`
 * entries and at most twice as many: when `kept` new ones have come, those before them are forgotten together. An entry
 * costs the same however many came before it.
 */
export class RecentMap<Value> implements Iterable<readonly [string, Value]> {
  readonly kept: number;
  readonly #newer: PersistentMap<Value>;
  readonly #older: PersistentMap<Value>;

  private constructor(kept: number, newer: PersistentMap<Value>, older: PersistentMap<Value>) {
    this.kept = kept;
    this.#newer = newer;
    this.#older = older;
  }

  static empty<Value>(kept: number): RecentMap<Value> {
    return new RecentMap<Value>(kept, PersistentMap.empty(), PersistentMap.empty());
  }

  static fromJson<Value>(kept: number, { newer, older }: RecentMapJson): RecentMap<Value> {
    return new RecentMap<Value>(kept, PersistentMap.fromJson(newer), PersistentMap.fromJson(older));
  }

  /** Returns the map as JSON. Values must consist of JSON values. */
  toJson(): RecentMapJson {
    return { newer: this.#newer.toJson(), older: this.#older.toJson() };
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  get(key: string): Value | undefined {
    return this.#newer.has(key) ? this.#newer.get(key) : this.#older.get(key);
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  /** Returns the map with the entry as its newest. */
  with(key: string, value: Value): RecentMap<Value> {
    const [newer, older] = [this.#newer.with(key, value), this.#older.without(key)];
    return newer.size < this.kept
      ? new RecentMap(this.kept, newer, older)
      : new RecentMap(this.kept, PersistentMap.empty(), newer);
  }

  without(key: string): RecentMap<Value> {
    return new RecentMap(this.kept, this.#newer.without(key), this.#older.without(key));
  }

  *[Symbol.iterator](): Generator<readonly [string, Value]> {
    yield* this.#newer;
    yield* this.#older;
  }
}
