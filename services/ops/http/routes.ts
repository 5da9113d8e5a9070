import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { countTargets, listTargets } from '#application/collecting/target-states.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import { planRecord, planSources } from '#application/collecting/plan-sources.ts';
import { readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { countTasks } from '#application/collectors/collector-keys.ts';
import { readVerification } from '#application/invariants/check-invariants.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { Refusal } from '#contracts/errors.ts';
import { MANIFEST_FILE } from '#contracts/audit/manifest.ts';
import { listWorkspaces } from '#projections/workspaces/read.ts';
import type { Log } from '#platform/logger.ts';
import { untilTimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { createConcurrencyLimit } from '#platform/concurrency/queues.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { projections } from '#projections/index.ts';
import {
  type DeliveryDependencies,
  DeliveryIds,
  DeliveryQuery,
  cancelByIds,
  listDeliveries,
  replayByIds,
  replayFailed,
  requeueMissing,
  showDelivery,
} from '../deliveries.ts';
import { Moment, Nothing, readQuery } from '../validate-query.ts';
import {
  type AuditDependencies,
  ExportQuery,
  FollowQuery,
  HistoryQuery,
  checkChain,
  exportHistory,
  filterOf,
  followHistory,
  readHistoryPage,
} from '../audit/history.ts';
import { type AttestDependencies, attest } from '../attest/attest.ts';
import { streamTar } from '../audit/write-export.ts';
import { LOG_TEXT_MAX_LENGTH, LogQuery, eventFields, findEvents, showEvent } from '../log/search.ts';
import {
  PROJECTION_MAX_LENGTH,
  ParkedCursor,
  ParkedPageLimit,
  STREAM_MAX_LENGTH,
  WaitingQuery,
  listParked,
  listWaitingStreams,
  nextParkedCursor,
  nextWaitingCursor,
  retryParked,
  showParked,
  skipParked,
} from '../waiting-events.ts';
import {
  VerifyQuery,
  cancelRebuild,
  cancelVerification,
  pauseProjection,
  readBuild,
  readDiff,
  readLagSeries,
  readProjectionVerification,
  readStatus,
  requestRebuild,
  requestVerification,
  resumeProjection,
} from '../projections.ts';

export const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Clients share code with those of the API, so the envelope is equal. `lag_hours` is 0: the data is current. */
const metaOf = (request: FastifyRequest) => ({
  request_id: request.id,
  as_of: new Date().toISOString(),
  lag_hours: 0,
});

export const record = <T>(request: FastifyRequest, data: T) => ({ data, meta: metaOf(request) });

/** `cursor` requests the next page; `null` on the last. */
export const page = <T>(request: FastifyRequest, data: readonly T[], cursor: string | null = null) => ({
  data,
  meta: { ...metaOf(request), ...(cursor === null ? {} : { cursor }), count: data.length },
});

/** Maximum targets listed, and late targets named. The command line lists more. */
const TARGETS_MAX = 200;
const LATE_MAX = 20;

/** Registers the reads of the state of the collector, the media archive and the nightly check of figures. */
export const registerCollectionRoutes = (
  app: FastifyInstance,
  { pool, archiveCallsPerHour }: { readonly pool: Database; readonly archiveCallsPerHour: number },
): void => {
  app.get('/ops/collection', async (request) => {
    const now = new Date();
    const [sources, plans, media, accounts, tasks, targets] = await Promise.all([
      countTargets(pool, now),
      planSources(pool, now, { archiveCallsPerHour }),
      readArchiveStatus(pool, now),
      readLibraryAccounts(pool, now),
      countTasks(pool, now),
      listTargets(pool, now, {
        states: ['due', 'in_flight', 'overdue', 'refused', 'shut', 'paused'],
        limit: TARGETS_MAX,
      }),
    ]);
    return record(request, {
      sources,
      plans: plans.map((plan) => planRecord(plan, LATE_MAX)),
      media:
        media === null
          ? null
          : {
              mode: media.mode,
              files: media.files,
              bytes: media.bytes,
              quota_bytes: media.quotaBytes,
              room: media.room,
              reasons: media.reasons,
            },
      accounts,
      tasks,
      targets,
    });
  });
  app.get('/ops/figures', async (request) => record(request, await readVerification(pool)));
};

export type { DeliveryDependencies };

const Ids = z.strictObject({ ids: DeliveryIds });
/** Selection of the deliveries to replay: exactly one of three forms. */
const Replay = z.union(
  [Ids, z.strictObject({ failed_since: Moment }), z.strictObject({ missing: z.literal(true) })],
  'must be exactly one of {"ids": […]}, {"failed_since": time} and {"missing": true}',
);

const distinct = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.map((id) => id.toLowerCase())),
];
const ignoreProgress = (): void => undefined;

export const registerDeliveryRoutes = (app: FastifyInstance, dependencies: DeliveryDependencies): void => {
  const { pool } = dependencies;
  /** True while missing deliveries are searched. The search reads every delivery in the log, so only one may run. */
  let isSearchingMissing = false;

  app.get('/ops/deliveries', async (request) => {
    const query = readQuery(DeliveryQuery, request.query);
    const rows = await listDeliveries(pool, query);
    const last = rows.at(-1);
    return page(request, rows, last && rows.length === query.limit ? last.delivery_id : null);
  });

  app.get<{ Params: { deliveryId: string } }>('/ops/deliveries/:deliveryId', async (request) => {
    const { ids } = readQuery(Ids, { ids: [request.params.deliveryId] });
    return record(request, await showDelivery(pool, ids[0] ?? ''));
  });

  app.post('/ops/deliveries/replay', async (request) => {
    const selection = readQuery(Replay, request.body);
    if ('ids' in selection) {
      const ids = distinct(selection.ids);
      const replayed = await replayByIds(dependencies, ids);
      return record(request, { replayed, still_under_way: ids.length - replayed });
    }
    if ('failed_since' in selection) {
      return record(request, await replayFailed(dependencies, selection.failed_since, ignoreProgress));
    }
    if (isSearchingMissing) {
      throw new Refusal(
        'already_exists',
        'A search for missing deliveries is already running. Wait until it ends.',
      );
    }
    isSearchingMissing = true;
    try {
      return record(request, { queued: await requeueMissing(dependencies, ignoreProgress, ignoreProgress) });
    } finally {
      isSearchingMissing = false;
    }
  });

  app.post('/ops/deliveries/cancel', async (request) => {
    const ids = distinct(readQuery(Ids, request.body).ids);
    const cancelled = await cancelByIds(pool, ids);
    return record(request, { cancelled, already_at_an_end: ids.length - cancelled });
  });
};

type Workspace = { Params: { workspaceId: string } };
export type HistoryDependencies = AuditDependencies & {
  readonly log: Log;
  /** Time limit of a page, and of a stream until its first byte. */
  readonly requestBudgetMs: number;
};

/** Time limit of requests that read a whole history. */
const LONG_BUDGET_MS = 600_000;
/** Maximum concurrent followers. Each polls the table several times a second. */
const FOLLOWERS_MAX = 50;
/** Maximum concurrent exports. Each occupies the temporary folder until it is sent. */
const EXPORTS_MAX = 4;

const Follow = z.looseObject({ follow: z.enum(['true', 'false']).optional() });

type Sent = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: AsyncIterable<string | Buffer>;
  readonly signal: AbortSignal;
  readonly log: Log;
};

/** Sends a streamed reply. Its status is already 200, so a later error only closes the connection and is logged. */
const sendStream = async ({ request, reply, headers, source, signal, log }: Sent): Promise<void> => {
  const logged = async function* (): AsyncGenerator<string | Buffer> {
    try {
      yield* source;
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, request_id: request.id }, 'response aborted');
      throw error;
    }
  };
  reply.hijack();
  reply.raw.writeHead(200, { ...PRIVATE_HEADERS, ...headers, 'x-request-id': request.id }).flushHeaders();
  try {
    await pipeline(Readable.from(logged(), { objectMode: false }), reply.raw, { signal });
  } catch {
    // The client disconnected, the process is shutting down, or the error is logged already.
    reply.raw.destroy();
  }
};

/** Registers workspaces and their histories. The export is an archive for `ops audit verify`. */
export const registerHistoryRoutes = (
  app: FastifyInstance,
  dependencies: HistoryDependencies,
  ending: AbortSignal,
): void => {
  const { log, requestBudgetMs } = dependencies;
  const inTime = <T>(work: () => Promise<T>): Promise<T> =>
    withTimeBudget(waitsOf(requestBudgetMs), () => untilTimeUsedUp(work()));
  const following = createConcurrencyLimit(FOLLOWERS_MAX, 'followed histories');
  const exporting = createConcurrencyLimit(EXPORTS_MAX, 'exports');

  // A stream of new entries has no end of its own.
  const isStream = { config: { budgetMs: null } };
  app.get<Workspace>('/ops/workspaces/:workspaceId/history', isStream, async (request, reply) => {
    const { workspaceId } = request.params;
    const { follow, ...query } = readQuery(Follow, request.query);
    if (follow !== 'true') {
      const pageQuery = readQuery(HistoryQuery, query);
      const { entries, cursor } = await inTime(() => readHistoryPage(dependencies, workspaceId, pageQuery));
      return page(request, entries, cursor);
    }
    const filter = readQuery(FollowQuery, query);
    return await following(async () => {
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const signal = AbortSignal.any([ending, disconnected.signal]);
      const entries = await inTime(() =>
        followHistory(dependencies.db, workspaceId, filterOf(filter), filter.after, signal),
      );
      const lines = async function* (): AsyncGenerator<string> {
        for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
      };
      const headers = { 'content-type': 'application/x-ndjson' };
      await sendStream({ request, reply, headers, source: lines(), signal, log });
      return reply;
    });
  });

  app.get('/ops/workspaces', async (request) => {
    readQuery(Nothing, request.query);
    return page(request, await listWorkspaces(dependencies.db));
  });

  const isLong = { config: { budgetMs: LONG_BUDGET_MS } };
  app.get<Workspace>('/ops/workspaces/:workspaceId/history/chain', isLong, async (request, reply) => {
    readQuery(Nothing, request.query);
    const disconnected = new AbortController();
    reply.raw.once('close', () => disconnected.abort());
    const signal = AbortSignal.any([ending, disconnected.signal]);
    return record(request, await checkChain(dependencies.db, request.params.workspaceId, signal));
  });

  app.get<Workspace>('/ops/workspaces/:workspaceId/history/export', isLong, async (request, reply) => {
    const { workspaceId } = request.params;
    const { format } = readQuery(ExportQuery, request.query);
    return await exporting(async () => {
      // Written to disk first: the manifest and the tar headers both contain the file sizes.
      const directory = await mkdtemp(join(tmpdir(), 'history-export-'));
      try {
        const { files } = await exportHistory(dependencies, workspaceId, format, directory);
        const headers = {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="history-${workspaceId.replace(/\W/g, '_')}.tar"`,
        };
        const source = streamTar(directory, [...files.map(({ name }) => name), MANIFEST_FILE]);
        await sendStream({ request, reply, headers, source, signal: ending, log });
      } finally {
        await rm(directory, { recursive: true });
      }
      return reply;
    });
  });
};

/** An attestation reads the whole log, so only one may run. */
export const registerAttestRoute = (
  app: FastifyInstance,
  dependencies: AttestDependencies,
  ending: AbortSignal,
): void => {
  const attesting = createConcurrencyLimit(1, 'attestations');
  app.get('/ops/attest', { config: { budgetMs: LONG_BUDGET_MS } }, async (request) => {
    readQuery(Nothing, request.query);
    return await attesting(async () => record(request, await attest(dependencies, null, ending)));
  });
};

const SEARCH_LIMIT_MS = 20_000;
/** Maximum concurrent searches. Each reads the log from its beginning. */
const SEARCHES_MAX = 4;

const Show = z.strictObject({
  stream: z.string().min(1).max(LOG_TEXT_MAX_LENGTH),
  revision: z
    .string()
    .regex(/^(\d{1,15}|last)$/, 'must be the revision of the event in its stream, or `last`')
    .transform((text) => (text === 'last' ? null : BigInt(text))),
});

export const registerLogRoutes = (
  app: FastifyInstance,
  { eventStore }: { readonly eventStore: EventStore },
  ending: AbortSignal,
): void => {
  const searching = createConcurrencyLimit(SEARCHES_MAX, 'searches of the log');
  app.get('/ops/log', (request, reply) =>
    searching(async () => {
      const { limit, ...filter } = readQuery(LogQuery, request.query);
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const timeout = AbortSignal.timeout(SEARCH_LIMIT_MS);
      const signal = AbortSignal.any([ending, disconnected.signal, timeout]);
      const events: ReturnType<typeof eventFields>[] = [];
      for await (const event of findEvents(eventStore, filter, signal)) {
        events.push(eventFields(event));
        if (events.length === limit) break;
      }
      // False when the limit or the timeout ended the search.
      return record(request, { facts: events, is_complete: events.length < limit && !signal.aborted });
    }),
  );

  app.get<{ Params: { stream: string; revision: string } }>('/ops/log/:stream/:revision', async (request) => {
    const { stream, revision } = readQuery(Show, request.params);
    return record(request, eventFields(await showEvent(eventStore, stream, revision)));
  });
};

export type ParkedDependencies = { readonly pool: Database; readonly eventStore: EventStore };

const STREAMS_MAX = 1_000;

const Projection = z.string().min(1).max(PROJECTION_MAX_LENGTH);
const Stream = z.string().min(1).max(STREAM_MAX_LENGTH);
const Page = z.strictObject({
  projection: Projection.optional(),
  limit: ParkedPageLimit,
  cursor: ParkedCursor.optional(),
});
const WaitingPage = WaitingQuery.omit({ after: true }).extend({ cursor: WaitingQuery.shape.after });
const Retry = z.strictObject({
  projection: Projection,
  streams: z.union(
    [z.array(Stream).min(1).max(STREAMS_MAX), z.literal('all')],
    `must be up to ${STREAMS_MAX} stream names, or "all"`,
  ),
});
const Skip = z.strictObject({ projection: Projection, stream: Stream });

/** Registers reads and commands of events that wait. Retry and skip reply 202: the projector that owns the projection carries them out. */
export const registerParkedRoutes = (
  app: FastifyInstance,
  { pool, eventStore }: ParkedDependencies,
): void => {
  app.get('/ops/parked', async (request) => {
    const { projection, limit, cursor } = readQuery(Page, request.query);
    const parked = await listParked(pool, {
      projection: projection ?? null,
      stream: null,
      limit,
      after: cursor ?? null,
    });
    return page(request, parked, nextParkedCursor(parked, limit));
  });

  app.get<{ Params: { projection: string; stream: string } }>(
    '/ops/parked/:projection/:stream',
    async (request) => {
      const { projection, stream } = request.params;
      const { fact: event, ...parked } = await showParked(pool, eventStore, projection, stream);
      return record(request, { ...parked, fact: event === null ? null : eventFields(event) });
    },
  );

  app.post('/ops/parked/retry', async (request, reply) => {
    const { projection, streams } = readQuery(Retry, request.body);
    const requested = await retryParked(pool, projection, streams === 'all' ? null : streams);
    void reply.status(202);
    return record(request, { projection, streams_asked: requested });
  });

  app.post('/ops/parked/skip', async (request, reply) => {
    const { projection, stream } = readQuery(Skip, request.body);
    await skipParked(pool, projection, stream);
    void reply.status(202);
    return record(request, { projection, stream, asked: 'skip' });
  });

  app.get('/ops/alerts/waiting', async (request) => {
    const { limit, cursor } = readQuery(WaitingPage, request.query);
    const streams = await listWaitingStreams(pool, { limit, after: cursor });
    return page(request, streams, nextWaitingCursor(streams, limit));
  });
};

export type ProjectionDependencies = { readonly pool: Database; readonly eventStore: EventStore };

const BY = 'ops-http';

const Rebuild = z.strictObject({ from: z.enum(['start', 'checkpoint']).default('start') });

/** Long operations reply 202. The projector carries them out, and clients poll their state. */
export const registerProjectionRoutes = (
  app: FastifyInstance,
  { pool, eventStore }: ProjectionDependencies,
): void => {
  const read = (url: string, find: (name: string) => Promise<unknown>): void => {
    app.get<{ Params: { name: string } }>(url, async (request) => {
      readQuery(Nothing, request.query);
      return record(request, await find(request.params.name));
    });
  };
  const accept = <T>(
    what: string,
    body: z.ZodType<T>,
    run: (name: string, input: T) => Promise<void>,
    show: (name: string) => Promise<unknown>,
  ): void => {
    app.post<{ Params: { name: string } }>(`/ops/projections/:name/${what}`, async (request, reply) => {
      const { name } = request.params;
      await run(name, readQuery(body, request.body ?? {}));
      void reply.status(202);
      return record(request, await show(name));
    });
  };
  const statusOf = async (name: string) => (await readStatus(pool, eventStore, projections, name))[0];
  const verificationOf = async (name: string) => {
    const found = await readProjectionVerification(pool, name);
    if (!found) throw new Refusal('not_found', `Verification not found: ${name} was never verified.`);
    return found;
  };

  app.get('/ops/projections', async (request) => {
    readQuery(Nothing, request.query);
    return page(request, await readStatus(pool, eventStore, projections));
  });
  app.get('/ops/projections/lag', async (request) => {
    readQuery(Nothing, request.query);
    return page(request, await readLagSeries(pool));
  });
  app.get('/ops/projections/diff', async (request) => {
    readQuery(Nothing, request.query);
    return page(request, await readDiff(pool, projections));
  });
  read('/ops/projections/:name', statusOf);
  read('/ops/projections/:name/verification', verificationOf);

  const build = (name: string) => readBuild(pool, name);
  accept('rebuild', Rebuild, (name, { from }) => requestRebuild(pool, name, { from, by: BY }), build);
  accept('cancel', Nothing, (name) => cancelRebuild(pool, name), build);
  accept('pause', Nothing, (name) => pauseProjection(pool, name), statusOf);
  accept('resume', Nothing, (name) => resumeProjection(pool, name), statusOf);
  const verify = (name: string, { to }: z.infer<typeof VerifyQuery>) =>
    requestVerification(pool, name, { to: to ?? null, by: BY });
  accept('verify', VerifyQuery, verify, verificationOf);
  accept('verify/cancel', Nothing, (name) => cancelVerification(pool, name), verificationOf);
};
