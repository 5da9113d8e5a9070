import { randomUUID } from 'node:crypto';
import type { Cadence } from '#contracts/values/primitives.ts';
import { pause } from '#platform/clock.ts';
import type { Attempt, Read, ShownBrand, Write, WriteOperation, WriteOutcome } from './history.ts';

/** Callers of two API processes. Each keeps the rules that the specification gives to clients. */

/** Milliseconds of one request. An API that was stopped or killed does not answer. */
const REQUEST_MS = 12_000;
/** Milliseconds for which a request is repeated. */
const REPEATED_MS = 90_000;
/** Milliseconds between two calls: so few calls that the search for their order stays small, and enough to meet every fault. */
const PAUSE_MAX_MS = 600;
const CADENCES: readonly Cadence[] = ['daily', 'weekly'];
/** Shares in 100: a read, a write that tracks, and a change of the API between two calls. */
const READS_OF_100 = 40;
const TRACKS_OF_100 = 62;
const MOVES_OF_100 = 30;

/** An API process of the trial. `run` counts its starts. `underWay` is the number of requests that it has not answered. */
export type Target = { readonly url: string; run(): number; underWay: number };

/** Least and most calls of a caller. */
export type CallLimits = { readonly least: number; readonly most: number };

export type Caller = {
  /** Sends calls one after the other, until `isOver` or there are the most. Returns the number of calls. */
  play(limits: CallLimits, isOver: () => boolean): Promise<number>;
  /** Reads once through each API. */
  readAll(): Promise<void>;
};

type Options = {
  readonly caller: number;
  readonly key: string;
  readonly workspaceId: string;
  readonly brands: readonly string[];
  readonly targets: readonly [Target, Target];
  readonly choose: (below: number) => number;
  readonly record: { write(write: Write): void; read(read: Read): void; attempt(attempt: Attempt): void };
};

type Reply = { readonly status: number; readonly data: unknown; readonly position: bigint | null };

const toShown = (data: unknown): ReadonlyMap<string, ShownBrand> =>
  new Map(
    (data as { brand: { id: string }; cadence: Cadence; created_at: string }[]).map(
      ({ brand, cadence, created_at }) => [brand.id, { cadence, created_at }],
    ),
  );

const outcomeOf = ({ kind }: WriteOperation, { status, data }: Reply): WriteOutcome => {
  if (status === 402) return { kind: 'refused' };
  if (kind === 'track') return { kind: 'tracked', createdAt: (data as { created_at: string }).created_at };
  return { kind: 'untracked', removed: (data as { removed: boolean }).removed };
};

export const createCaller = ({
  caller,
  key,
  workspaceId,
  brands,
  targets,
  choose,
  record,
}: Options): Caller => {
  const path = `/v1/workspaces/${workspaceId}/tracked-brands`;
  let api = caller % 2;
  /** Greatest position that a reply to this caller named. */
  let position = 0n;
  /** The API process that answered last, and its run. */
  let answeredBy: string | null = null;

  const send = async (
    method: string,
    url: string,
    body?: object,
    idempotencyKey?: string,
  ): Promise<Reply> => {
    const asksApi = api;
    const target = targets[asksApi] as Target;
    const asked = `${api} ${target.run()}`;
    const sentMs = Date.now();
    target.underWay += 1;
    const answered = fetch(`${target.url}${url}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        // As the specification asks of a caller that comes from another process.
        ...(method === 'GET' && answeredBy !== asked && position > 0n
          ? { 'min-position': String(position) }
          : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(REQUEST_MS),
    }).finally(() => {
      target.underWay -= 1;
      record.attempt({ api: asksApi, sentMs, endedMs: Date.now() });
    });
    const reply = await answered;
    const { data } = (await reply.json()) as { data?: unknown };
    const named = reply.headers.get('x-read-position');
    // The process may have been started again while it was asked.
    if (reply.ok) answeredBy = asked === `${api} ${target.run()}` ? asked : null;
    return { status: reply.status, data, position: named === null ? null : BigInt(named) };
  };
  const named = (reply: Reply): void => {
    if (reply.position !== null && reply.position > position) ({ position } = reply);
  };

  /** Repeats a request until it is answered with another status than 503. Returns null when that takes too long. */
  const repeat = async (request: () => Promise<Reply>): Promise<Reply | null> => {
    const untilMs = Date.now() + REPEATED_MS;
    while (Date.now() < untilMs) {
      const reply = await request().catch(() => null);
      // 409: the first request with this idempotency key is still running.
      if (reply !== null && reply.status !== 503 && reply.status !== 409) return reply;
      await pause(200 + choose(300));
    }
    return null;
  };

  const write = async (operation: WriteOperation): Promise<void> => {
    const sentMs = Date.now();
    const idempotencyKey = randomUUID();
    const { brand } = operation;
    // A DELETE has no idempotency key: its repetition would be another call, so it is sent once.
    const reply =
      operation.kind === 'track'
        ? await repeat(() =>
            send('POST', path, { brand_id: brand, cadence: operation.cadence }, idempotencyKey),
          )
        : await send('DELETE', `${path}/${brand}`, {}).catch(() => null);
    const isTold = reply !== null && [200, 201, 402].includes(reply.status);
    if (reply !== null && !isTold && reply.status !== 503)
      throw new Error(`${operation.kind} was answered ${reply.status}: ${JSON.stringify(reply.data)}`);
    if (isTold) named(reply);
    record.write({
      caller,
      sentMs,
      endedMs: isTold ? Date.now() : Number.POSITIVE_INFINITY,
      position: isTold ? reply.position : null,
      operation,
      outcome: isTold ? outcomeOf(operation, reply) : { kind: 'unknown' },
    });
  };

  const read = async (): Promise<void> => {
    const sentMs = Date.now();
    const reply = await repeat(() => send('GET', `${path}?limit=100`));
    if (reply === null) throw new Error(`caller ${caller} could not read in ${REPEATED_MS} ms`);
    if (reply.status !== 200) throw new Error(`a read was answered ${reply.status}`);
    named(reply);
    record.read({
      caller,
      sentMs,
      endedMs: Date.now(),
      shown: toShown(reply.data),
    });
  };

  return {
    play: async ({ least, most }, isOver) => {
      let done = 0;
      for (; done < least || (done < most && !isOver()); done += 1) {
        if (choose(100) < MOVES_OF_100) api = 1 - api;
        const kind = choose(100);
        const brand = brands[choose(brands.length)] ?? '';
        const cadence = CADENCES[choose(CADENCES.length)] ?? 'daily';
        if (kind < READS_OF_100) await read();
        else if (choose(100) < TRACKS_OF_100) await write({ kind: 'track', brand, cadence });
        else await write({ kind: 'untrack', brand });
        await pause(choose(PAUSE_MAX_MS));
      }
      return done;
    },
    readAll: async () => {
      for (let other = 0; other < targets.length; other += 1) {
        await read();
        api = 1 - api;
      }
    },
  };
};
