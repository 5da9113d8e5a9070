import { hash, randomUUID, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  BUCKETS,
  CHAIN_START,
  type DigestedEvent,
  EMPTY_ROOT,
  bucketOf,
  chainEvent,
  digestHash,
  digestSigningText,
  leafHash,
  merklePath,
  merkleRoot,
} from '#contracts/audit/chain.ts';
import type { LogDigest, PathStep, StreamHead } from '#contracts/audit/log-digest.ts';
import { Refusal } from '#contracts/errors.ts';
import { LOG_DIGEST_STREAM, type LogDigestSigned } from '#contracts/events/log-digest.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Clock } from '#platform/clock.ts';
import { canCarryMark, portable } from '#platform/event-store/copy/first-recorded.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { eventMetadata, serviceActor } from '../commands/command-handler.ts';
import { type SigningKey, publicKeyId, publicKeyText, readPublicKey } from './signing-key.ts';

/** Events whose heads are read and written together. */
const BATCH = 1_000;
const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const TABLE_MISSING: ReadonlySet<string> = new Set(['42P01', '3F000']);

/** The log lacks events that a digest covers, or has others in their place. */
export class LogAltered extends Refusal {
  constructor(message: string) {
    super('internal', `The log is not the one that was signed: ${message}.`);
    this.name = 'LogAltered';
  }
}

/** `null` for an event of the first version, and for one that another program wrote. */
const schemaVersion = (metadata: Uint8Array): number | null => {
  try {
    const { schema_version: version } = JSON.parse(Buffer.from(metadata).toString('utf8')) as {
      readonly schema_version?: unknown;
    };
    return typeof version === 'number' ? version : null;
  } catch {
    return null;
  }
};

export const digestedEvent = (raw: RawEvent): DigestedEvent => {
  const { stream, revision, id, type, position, at, data, metadata } = portable(raw);
  return {
    stream,
    revision: String(revision),
    id,
    type,
    position: canCarryMark({ type, data, metadata }) ? String(position) : null,
    recorded_at: at,
    data: Buffer.from(data).toString('utf8'),
    schema_version: schemaVersion(metadata),
    metadata_sha256: hash('sha256', metadata, 'hex'),
  };
};

const READ_HEADS = 'select stream, revision::text, head from log_digest.stream where stream = any($1)';
const WRITE_HEADS = `
  insert into log_digest.stream (stream, bucket, revision, head)
  select * from unnest($1::text[], $2::smallint[], $3::bigint[], $4::text[])
  on conflict (stream) do update set revision = excluded.revision, head = excluded.head`;

/** Continues the chains and returns the buckets of their streams. Throws `LogAltered` for a missing revision. */
const chainBatch = async (client: Transaction, events: readonly RawEvent[]): Promise<readonly number[]> => {
  const names = [...new Set(events.map(({ stream }) => stream))];
  const { rows } = await client.query<StreamHead>(READ_HEADS, [names]);
  const heads = new Map(rows.map((row) => [row.stream, row]));
  for (const event of events) {
    const { stream, revision } = event;
    const before = heads.get(stream);
    const expected = before === undefined ? 0n : BigInt(before.revision) + 1n;
    if (revision !== expected) throw new LogAltered(`${stream} lacks revision ${expected}`);
    const head = chainEvent(before?.head ?? CHAIN_START, digestedEvent(event));
    heads.set(stream, { stream, revision: String(revision), head });
  }
  const changed = [...heads.values()];
  const buckets = changed.map(({ stream }) => bucketOf(stream));
  await client.query(WRITE_HEADS, [
    changed.map(({ stream }) => stream),
    buckets,
    changed.map(({ revision }) => revision),
    changed.map(({ head }) => head),
  ]);
  return buckets;
};

const LEAVES = 'select stream, revision::text, head from log_digest.stream where bucket = $1 order by stream';

const writeBucketRoots = async (client: Transaction, buckets: ReadonlySet<number>): Promise<void> => {
  const roots: string[] = [];
  for (const bucket of buckets) {
    const { rows } = await client.query<StreamHead>(LEAVES, [bucket]);
    roots.push(merkleRoot(rows.map(leafHash)));
  }
  await client.query(
    `insert into log_digest.bucket (bucket, root) select * from unnest($1::smallint[], $2::text[])
     on conflict (bucket) do update set root = excluded.root`,
    [[...buckets], roots],
  );
};

type BucketRoot = { readonly bucket: number; readonly root: string };

const inOrder = (found: readonly BucketRoot[]): readonly string[] => {
  const roots = Array.from({ length: BUCKETS }, () => EMPTY_ROOT);
  for (const { bucket, root } of found) roots[bucket] = root;
  return roots;
};

type Covered = Pick<LogDigest, 'recorded_until' | 'events' | 'streams' | 'root'> & {
  readonly position: bigint;
};

/** Throws the reason of an abort also while the source is silent. */
const untilAborted = async function* <T>(
  source: AsyncGenerator<T>,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<T> {
  let refuse: (reason: Error) => void = () => undefined;
  const end = (): void => refuse(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        refuse = reject;
        source.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', end);
    // Not awaited, because a silent source would end much later.
    source.return(undefined).catch(() => undefined);
  }
};

/** Continues the tree after `last` by events of the log: by all, or until it has `eventsMax` in all. */
const extendTree = async (
  client: Transaction,
  { log, signal }: Pick<DigestMaker, 'log' | 'signal'>,
  last: Stored | null,
  eventsMax = Number.POSITIVE_INFINITY,
): Promise<Covered | null> => {
  let events = last?.digest.events ?? 0;
  let newest: RawEvent | null = null;
  let batch: RawEvent[] = [];
  const buckets = new Set<number>();
  const write = async (): Promise<void> => {
    for (const bucket of await chainBatch(client, batch)) buckets.add(bucket);
    batch = [];
  };
  for await (const event of untilAborted(log.forwards(last?.position ?? null), signal)) {
    if (events >= eventsMax) break;
    if (event.stream.startsWith('$')) continue;
    batch.push(event);
    newest = event;
    events += 1;
    if (batch.length === BATCH) await write();
  }
  if (newest === null) return null;
  if (batch.length > 0) await write();
  await writeBucketRoots(client, buckets);
  const { rows } = await client.query<BucketRoot>('select bucket, root from log_digest.bucket');
  const counted = await client.query<{ streams: number }>(
    'select count(*)::int as streams from log_digest.stream',
  );
  return {
    recorded_until: portable(newest).at,
    events,
    streams: counted.rows[0]?.streams ?? 0,
    root: merkleRoot(inOrder(rows)),
    position: newest.position,
  };
};

/** `position`: the last event that the digest covers, in this log. */
type Stored = { readonly digest: LogDigest; readonly position: bigint };

const readLast = async (client: Transaction): Promise<Stored | null> => {
  const { rows } = await client.query<{ digest: string; position: string }>(
    'select digest, position from log_digest.digest order by sequence desc limit 1',
  );
  const row = rows[0];
  return row ? { digest: JSON.parse(row.digest) as LogDigest, position: BigInt(row.position) } : null;
};

const store = async (client: Transaction, { digest, position }: Stored): Promise<Stored> => {
  await client.query('insert into log_digest.digest (sequence, position, digest) values ($1, $2, $3)', [
    digest.sequence,
    position.toString(),
    JSON.stringify(digest),
  ]);
  return { digest, position };
};

export type DigestMaker = {
  readonly database: Database;
  readonly log: RawLog;
  readonly eventStore: EventStore;
  readonly signingKey: SigningKey;
  /** Process that signs. */
  readonly service: string;
  readonly clock: Clock;
  /** Ends the reading of the log; nothing is signed then. */
  readonly signal?: AbortSignal;
};

const requireSigned = (digest: LogDigest, before: LogDigest | null): void => {
  const { sequence, public_key, signature, previous_digest } = digest;
  const text = Buffer.from(digestSigningText(digest), 'utf8');
  if (!verify(null, text, readPublicKey(public_key), Buffer.from(signature, 'base64')))
    throw new LogAltered(`digest ${sequence} is not signed by its key`);
  if (previous_digest !== digestHash(before))
    throw new LogAltered(`digest ${sequence} does not follow the one before it`);
};

/** Follows digests that are in the log and not in the tables. Throws `LogAltered` for one that differs from the log. */
const followDigests = async (
  client: Transaction,
  { eventStore, ...source }: Pick<DigestMaker, 'log' | 'eventStore' | 'signal'>,
): Promise<Stored | null> => {
  let last = await readLast(client);
  const after = BigInt(last?.digest.sequence ?? 0) - 1n;
  for await (const { data } of eventStore.read<LogDigestSigned>(LOG_DIGEST_STREAM, after)) {
    requireSigned(data, last?.digest ?? null);
    const covered = await extendTree(client, source, last, data.events);
    if (covered?.root !== data.root || covered.events !== data.events)
      throw new LogAltered(`digest ${data.sequence} has another root`);
    last = await store(client, { digest: data, position: covered.position });
  }
  return last;
};

/** `null` while the log is empty. Throws `LogAltered`. */
const signNext = async ({
  database,
  signingKey,
  service,
  clock,
  ...logs
}: DigestMaker): Promise<LogDigest | null> => {
  await installSchema(database, { lock: ADVISORY_LOCKS.logDigestSchema, sql: SCHEMA });
  return await inTransaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.logDigest]);
    const last = await followDigests(client, logs);
    const covered = await extendTree(client, logs, last);
    if (covered === null && last === null) return null;
    // A digest is in the log, after the events that it covers.
    if (covered === null) throw new LogAltered(`nothing follows digest ${last?.digest.sequence}`);
    const { position, ...tree } = covered;
    const unsigned = {
      digest_version: 1 as const,
      sequence: (last?.digest.sequence ?? 0) + 1,
      made_at: clock.now().toISOString(),
      ...tree,
      previous_digest: digestHash(last?.digest ?? null),
      public_key_id: publicKeyId(signingKey.publicKey),
      public_key: publicKeyText(signingKey.publicKey),
    };
    const text = digestSigningText({ ...unsigned, signature: '' });
    const signature = sign(null, Buffer.from(text, 'utf8'), signingKey.privateKey).toString('base64');
    const digest: LogDigest = { ...unsigned, signature };
    // A crash before the commit leaves the digest in the log, from where the next call takes it.
    const id = randomUUID();
    await logs.eventStore.append(
      LOG_DIGEST_STREAM,
      BigInt(digest.sequence) - 2n,
      [{ type: 'LogDigestSigned', data: digest }],
      eventMetadata({ actor: serviceActor(service), correlationId: id, causationId: id }),
      id,
    );
    await store(client, { digest, position });
    return digest;
  });
};

/**
 * Makes the tables again from the log and compares each digest in it with them. `null` for a log without digests. Throws
 * `LogAltered`, and then keeps the tables.
 */
export const verifyDigests = async ({
  database,
  ...logs
}: Pick<DigestMaker, 'database' | 'log' | 'eventStore'>): Promise<LogDigest | null> => {
  await installSchema(database, { lock: ADVISORY_LOCKS.logDigestSchema, sql: SCHEMA });
  return await inTransaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.logDigest]);
    for (const table of ['stream', 'bucket', 'digest']) await client.query(`delete from log_digest.${table}`);
    return (await followDigests(client, logs))?.digest ?? null;
  });
};

/**
 * Signs a digest of the log up to now and appends it. `null` while the log is empty. Tables that were dropped, or are of
 * another copy of the log, are made again and checked by the digests in it. Throws `LogAltered`.
 */
export const makeDigest = async (maker: DigestMaker): Promise<LogDigest | null> => {
  try {
    return await signNext(maker);
  } catch (error) {
    if (!(error instanceof LogAltered)) throw error;
    await verifyDigests(maker);
    return await signNext(maker);
  }
};

/** A stream of the newest digest, with the siblings on its way to the root. */
export type ProvenHead = StreamHead & { readonly path: readonly PathStep[] };

export type Attestation = {
  readonly digest: LogDigest;
  /** Lacks streams that the digest does not cover. */
  readonly heads: ReadonlyMap<string, ProvenHead>;
};

/** No rows until the first digest installs the tables. */
const whenInstalled = async <Row>(
  read: Promise<{ readonly rows: readonly Row[] }>,
): Promise<readonly Row[]> => {
  try {
    return (await read).rows;
  } catch (error) {
    if (TABLE_MISSING.has(String((error as { code?: unknown }).code))) return [];
    throw error;
  }
};

/** One statement, so that digest, roots and leaves belong together. */
const ATTESTATION = `
  select (select digest from log_digest.digest order by sequence desc limit 1) as digest,
    (select coalesce(json_agg(b), '[]') from log_digest.bucket b) as roots,
    (select coalesce(json_agg(s order by s.stream), '[]') from (
      select bucket, stream, revision::text, head from log_digest.stream where bucket = any($1)) s) as leaves`;

type AttestationRow = {
  readonly digest: string | null;
  readonly roots: readonly BucketRoot[];
  readonly leaves: readonly (StreamHead & { readonly bucket: number })[];
};

/** `null` before the first digest. */
export const readAttestation = async (
  database: Database,
  streams: readonly string[],
): Promise<Attestation | null> => {
  const [row] = await whenInstalled<AttestationRow>(
    database.query<AttestationRow>(ATTESTATION, [streams.map(bucketOf)]),
  );
  if (!row || row.digest === null) return null;
  const roots = inOrder(row.roots);
  const heads = new Map<string, ProvenHead>();
  for (const stream of streams) {
    const bucket = bucketOf(stream);
    const leaves = row.leaves.filter((leaf) => leaf.bucket === bucket);
    const index = leaves.findIndex((leaf) => leaf.stream === stream);
    const leaf = leaves[index];
    if (leaf === undefined) continue;
    const path = [...merklePath(leaves.map(leafHash), index), ...merklePath(roots, bucket)];
    heads.set(stream, { stream, revision: leaf.revision, head: leaf.head, path });
  }
  return { digest: JSON.parse(row.digest) as LogDigest, heads };
};

const NEWEST = 'select digest from log_digest.digest order by sequence desc limit $1';

/** Newest first. */
export const readDigests = async (database: Database, count: number): Promise<readonly LogDigest[]> => {
  const rows = await whenInstalled(database.query<{ digest: string }>(NEWEST, [count]));
  return rows.map(({ digest }) => JSON.parse(digest) as LogDigest);
};
