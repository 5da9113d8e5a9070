import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { openClosablePool, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import { type Catalog, createIndexesOfBrand, readCatalog, schemaOf } from '../read-models/schema.ts';
import { type EventMark, inLogOrder, markOf, streamsOfBrand } from './event-streams.ts';
import { begin, beginWithTables, scratchUrlOf, writeRange } from './scratch-database.ts';

/**
 * Keeps rows of the read models about large brands, as they were after each `GAP` events. A read of a past moment then writes only
 * the events since such a state. This is a cache: each state has its schemas in the scratch database, named like `ads@17`.
 */

/** Events of a brand between two states. */
const GAP = 1_000;
/** States in all. Those of the brand that was least recently read are dropped for new ones. */
const STATES_MAX = 300;
/** A read has at most 200,000 events. */
const STATES_OF_BRAND_MAX = 200;
/** The scratch database in bytes, from which on brands make room as well. */
const BYTES_MAX = 8 * 2 ** 30;
/** Brands whose states are to be kept; further ones wait for a later read. */
const QUEUE_MAX = 16;
const STATEMENT_TIMEOUT_MS = 60_000;
/** The time of the last read is not written more often. */
const READ_AT_GRAIN = '1 minute';

/** Read models of reads of past moments that follow the streams of a brand. */
const KEPT: readonly string[] = [
  'ads',
  'brands',
  'creatives',
  'daily-activity',
  'freshness',
  'radar',
  'velocity',
];
const keptModels = projections.filter(({ name }) => KEPT.includes(name));

/** Layout of the lists below. */
const FORMAT = 1;

/** An event that the log must still have. */
type End = { readonly revision: bigint; readonly position: bigint; readonly id: string };
type Ends = ReadonlyMap<string, End>;

export type KeptState = {
  readonly id: number;
  /** The last event of each stream. */
  readonly ends: Ends;
  /** Events since the state before, in the order of the log. */
  readonly marks: readonly EventMark[];
};

export type Keeping = {
  readonly log: Log;
  /** Events between two states, and the fewest for which states are kept. */
  readonly gap?: number;
  /** States of all brands. */
  readonly max?: number;
};

export type KeptStates = AsyncDisposable & {
  /** States of one brand of the streams, in the order of the log; none for a read of other read models, or of another log. */
  find(
    client: Transaction,
    models: readonly Projection[],
    streams: readonly string[],
  ): Promise<readonly KeptState[]>;
  /** Keeps states in the background for brands of `streams`. `unkept`: by stream, the number of events that are in none. */
  keep(streams: readonly string[], unkept: ReadonlyMap<string, number>): void;
};

type Row = {
  readonly id: number;
  readonly ends: Readonly<Record<string, readonly [revision: string, position: string, id: string]>>;
  readonly marks: string;
};
type MarkRow = readonly [
  stream: 0 | 1,
  revision: number,
  position: number,
  recordedAt: number,
  observedAt: number,
  type?: string,
  names?: readonly string[],
];

const stateOf = (brandId: string, { id, ends, marks }: Row): KeptState => {
  const streams = streamsOfBrand(brandId);
  const rows = JSON.parse(marks) as readonly MarkRow[];
  return {
    id,
    ends: new Map(
      Object.entries(ends).map(([stream, [revision, position, eventId]]) => [
        stream,
        { revision: BigInt(revision), position: BigInt(position), id: eventId },
      ]),
    ),
    marks: rows.map(([stream, revision, position, recordedAt, observedAt, type = '', names = []]) => ({
      stream: streams[stream] ?? '',
      revision: BigInt(revision),
      position: BigInt(position),
      recordedAt: new Date(recordedAt),
      observedAt,
      type,
      names,
    })),
  };
};

const rowOfEnds = (ends: Ends): Row['ends'] =>
  Object.fromEntries(
    [...ends].map(([stream, { revision, position, id }]) => [stream, [`${revision}`, `${position}`, id]]),
  );

const rowsOfMarks = (brandId: string, events: readonly RecordedEvent[]): readonly MarkRow[] => {
  const streams = streamsOfBrand(brandId);
  return events.map((event): MarkRow => {
    const { stream, revision, position, recordedAt, observedAt, type, names } = markOf(event);
    const place = [streams.indexOf(stream) as 0 | 1, Number(revision), Number(position)] as const;
    const times = [recordedAt.getTime(), observedAt] as const;
    // A read asks for no other type.
    const isAsked = names.length > 0 || type === 'BrandRegistered';
    return isAsked ? [...place, ...times, type, names] : [...place, ...times];
  });
};

const brandsOf = (streams: readonly string[]): readonly string[] =>
  streams
    .filter((stream) => stream.startsWith(`${AD_LIBRARY}-`))
    .map((stream) => stream.slice(AD_LIBRARY.length + 1));

const followsBrands = ({ prefixes }: Projection): boolean =>
  prefixes.some((prefix) => streamsOfBrand('').includes(prefix));

const schemaOfState = ({ name }: Pick<Projection, 'name'>, id: number): string => `${schemaOf(name)}@${id}`;

/** Gives the tables of the state the names of the empty ones, until the transaction is rolled back. */
export const enterState = async (
  client: Transaction,
  models: readonly Projection[],
  { id }: KeptState,
): Promise<void> => {
  for (const model of models.filter(({ name }) => KEPT.includes(name))) {
    const schema = schemaOf(model.name);
    await client.query(
      `alter schema "${schema}" rename to "${schema}@empty"; alter schema "${schemaOfState(model, id)}" rename to "${schema}"`,
    );
  }
};

type Reading = Pick<EventStore, 'read'>;

/** False after the log was restored and went on with other events. */
const isInLog = async (eventStore: Reading, ends: Ends): Promise<boolean> => {
  const found = [...ends].map(async ([stream, { revision, position, id }]) => {
    let isEnd = false;
    // Reads to its end: a server closes the connection of a client that abandons many reads.
    for await (const event of eventStore.read<Event>(stream, revision - 1n, 1))
      isEnd = event.revision === revision && event.position === position && event.id === id;
    return isEnd;
  });
  return (await Promise.all(found)).every(Boolean);
};

/** Events of several streams in the order of the log. */
const mergeStreams = async function* (
  streams: readonly AsyncIterable<RecordedEvent>[],
): AsyncGenerator<RecordedEvent> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(iterators.map((one) => one.next()));
    for (;;) {
      let first = -1;
      for (const [index, { done, value }] of heads.entries()) {
        const best = heads[first];
        if (done !== true && (!best || inLogOrder(value, best.value) < 0)) first = index;
      }
      const head = heads[first];
      const iterator = iterators[first];
      if (!head || !iterator) return;
      yield head.value as RecordedEvent;
      heads[first] = await iterator.next();
    }
  } finally {
    for (const one of iterators) await one.return?.();
  }
};

/** Runs statements for each table of a schema. */
const forTables = async (
  client: Transaction,
  schema: string,
  statementOf: (table: string, columns: string) => string,
): Promise<void> => {
  // Generated columns are computed again.
  const { rows } = await client.query<{ table: string; columns: string }>(
    `select c.relname as "table", string_agg(quote_ident(a.attname), ',') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = $1 and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by 1`,
    [schema],
  );
  await client.query(rows.map(({ table, columns }) => statementOf(`"${table}"`, columns)).join(';'));
};

/** Drops tables of states that are no longer listed. */
const sweep = async (client: Transaction): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname ~ '@[0-9]+$'
       and split_part(nspname, '@', 2)::int not in (select id from public.kept_state)`,
  );
  for (const { name } of rows) {
    // No read has the tables open while this transaction runs.
    await begin(client);
    await client.query(`drop schema if exists "${name}" cascade`);
    await client.query('commit');
  }
};

export const openKeptStates = (
  databaseUrl: string,
  eventStore: Reading,
  { log, gap = GAP, max = STATES_MAX }: Keeping,
): KeptStates => {
  const pool = openClosablePool(scratchUrlOf(databaseUrl), 2, {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: '-c synchronous_commit=off',
  });
  const rules = [
    FORMAT,
    ...keptModels.map((one) => `${one.name} ${one.version} ${fingerprintOf(one)}`),
  ].join();
  const catalogs = new Map<string, Catalog>();
  let isEnded = false;

  /** States of the brand that was read last: to parse all of its marks takes a fifth of a read. */
  let recent: ReadonlyMap<number, KeptState> = new Map();

  const statesOf = async (
    client: Transaction,
    brandIds: readonly string[],
  ): Promise<readonly KeptState[]> => {
    const { rows } = await client.query<Omit<Row, 'marks'> & { brand_id: string }>(
      `select id, brand_id, ends from public.kept_state where rules = $1 and brand_id = (
         select brand_id from public.kept_state where rules = $1 and brand_id = any($2)
         group by 1 order by count(*) desc, 1 limit 1) order by id`,
      [rules, brandIds],
    );
    // Another brand may become the recent one while this query runs.
    const known = recent;
    const unknown = rows.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    const { rows: read } = await client.query<Pick<Row, 'id' | 'marks'>>(
      'select id, marks from public.kept_state where id = any($1)',
      [unknown],
    );
    const marksOf = new Map(read.map(({ id, marks }) => [id, marks]));
    // One of them was dropped meanwhile.
    if (read.length < unknown.length) return [];
    const states = rows.map(
      (row) => known.get(row.id) ?? stateOf(row.brand_id, { ...row, marks: marksOf.get(row.id) ?? '[]' }),
    );
    recent = new Map(states.map((one) => [one.id, one]));
    const last = states.at(-1);
    return last && (await isInLog(eventStore, last.ends)) ? states : [];
  };

  /** Drops states of other brands. Returns false when that makes too little room. */
  const makeRoom = async (client: Transaction, brandId: string): Promise<boolean> => {
    for (;;) {
      const { rows } = await client.query<{ states: number; own: number; bytes: string }>(
        `select count(*)::int as states, count(*) filter (where brand_id = $1 and rules = $2)::int as own,
           pg_database_size(current_database()) as bytes from public.kept_state`,
        [brandId, rules],
      );
      const { states = 0, own = 0, bytes = '0' } = rows[0] ?? {};
      if (own >= STATES_OF_BRAND_MAX) return false;
      if (states < max && Number(bytes) < BYTES_MAX) return true;
      const { rowCount } = await client.query(
        `delete from public.kept_state where (brand_id, rules) = (select brand_id, rules from public.kept_state
           where brand_id <> $1 or rules <> $2 order by read_at limit 1)`,
        [brandId, rules],
      );
      if (rowCount === 0) return false;
      await sweep(client);
    }
  };

  /** Creates the empty tables of the next state, in the form of those that reads fill. */
  const createSchemas = async (client: Transaction): Promise<number> => {
    // No id is used again: the next state is never made of another brand's rows, nor read with another's marks.
    const { rows } = await client.query<{ id: number }>(`select nextval('public.kept_state_id')::int as id`);
    const { id = 0 } = rows[0] ?? {};
    for (const model of keptModels) {
      const [from, to] = [schemaOf(model.name), schemaOfState(model, id)];
      if (!catalogs.has(model.name)) catalogs.set(model.name, await readCatalog(client, from));
      await client.query(`create schema "${to}"`);
      await forTables(
        client,
        from,
        (table) => `create unlogged table "${to}".${table} (like "${from}".${table} including all)`,
      );
    }
    return id;
  };

  const createState = async (
    client: Transaction,
    brandId: string,
    before: KeptState | undefined,
    events: readonly RecordedEvent[],
  ): Promise<KeptState> => {
    const ends = new Map(before?.ends);
    for (const { stream, revision, position, id } of events) ends.set(stream, { revision, position, id });
    await beginWithTables(client, keptModels);
    await client.query('commit');
    await client.query('begin');
    const { rows: locks } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_xact_lock($1) as locked',
      [ADVISORY_LOCKS.keptStates],
    );
    if (locks[0]?.locked !== true) throw new Error('another process keeps states');
    const id = await createSchemas(client);
    for (const model of before ? keptModels : []) {
      const [from, to] = [schemaOfState(model, before?.id ?? 0), schemaOfState(model, id)];
      await forTables(
        client,
        to,
        (table, columns) =>
          `insert into "${to}".${table} (${columns}) select ${columns} from "${from}".${table}`,
      );
    }
    const catalogOf = ({ name }: Projection): Catalog => catalogs.get(name) ?? new Map();
    await writeRange({ client, catalogOf }, keptModels, events, (model) => schemaOfState(model, id));
    for (const model of keptModels) await createIndexesOfBrand(client, model, schemaOfState(model, id));
    const { rows } = await client.query<Row>(
      // The reference makes sure that no state lacks the marks of those before it.
      `insert into public.kept_state (id, before, brand_id, rules, ends, marks)
       values ($1, $2, $3, $4, $5, $6) returning *`,
      [
        id,
        before?.id ?? null,
        brandId,
        rules,
        JSON.stringify(rowOfEnds(ends)),
        JSON.stringify(rowsOfMarks(brandId, events)),
      ],
    );
    await client.query('commit');
    return stateOf(brandId, rows[0] as Row);
  };

  const keepBrand = async (brandId: string): Promise<void> => {
    const client = await pool.database.connect();
    try {
      await begin(client);
      await client.query('commit');
      await sweep(client);
      const states = await statesOf(client, [brandId]);
      if (states.length === 0)
        await client.query('delete from public.kept_state where brand_id = $1 and rules = $2', [
          brandId,
          rules,
        ]);
      let last = states.at(-1);
      const read = (stream: string): AsyncIterable<RecordedEvent> =>
        eventStore.read<Event>(stream, last?.ends.get(stream)?.revision ?? -1n);
      let events: RecordedEvent[] = [];
      for await (const event of mergeStreams(streamsOfBrand(brandId).map(read))) {
        if (isEnded) return;
        events.push(event);
        if (events.length < gap) continue;
        if (!(await makeRoom(client, brandId))) return;
        last = await createState(client, brandId, last, events);
        events = [];
      }
    } finally {
      // Its end rolls back.
      client.release(true);
    }
  };

  const noteRead = (id: number): void =>
    void pool.database
      .query(
        `update public.kept_state s set read_at = now() from public.kept_state one
         where one.id = $1 and s.brand_id = one.brand_id and s.rules = one.rules
           and s.read_at < now() - interval '${READ_AT_GRAIN}'`,
        [id],
      )
      .catch(() => undefined);

  const waiting = new Set<string>();
  let working: Promise<void> = Promise.resolve();
  const keepWaiting = async (): Promise<void> => {
    for (const brandId of waiting) {
      try {
        if (!isEnded) await keepBrand(brandId);
      } catch (error) {
        if (!isEnded) log.warn({ err: error, brand_id: brandId }, 'states of a brand not kept');
      }
      waiting.delete(brandId);
    }
  };

  return {
    find: async (client, models, streams) => {
      const brandIds = brandsOf(streams);
      if (brandIds.length === 0 || models.some((one) => followsBrands(one) && !KEPT.includes(one.name)))
        return [];
      const states = await statesOf(client, brandIds);
      const [{ id } = {}] = states;
      if (id !== undefined) noteRead(id);
      return states;
    },
    keep: (streams, unkept) => {
      for (const brandId of brandsOf(streams)) {
        const events = streamsOfBrand(brandId).reduce((sum, stream) => sum + (unkept.get(stream) ?? 0), 0);
        if (events < gap || isEnded || waiting.has(brandId) || waiting.size >= QUEUE_MAX) continue;
        waiting.add(brandId);
        if (waiting.size === 1) working = outsideTimeBudget(keepWaiting);
      }
    },
    [Symbol.asyncDispose]: async () => {
      isEnded = true;
      const closed = pool.close();
      await working;
      await closed;
    },
  };
};
