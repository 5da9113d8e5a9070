import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { MANIFEST_FILE } from '#contracts/audit/manifest.ts';
import { listWorkspaces } from '#projections/workspaces/read.ts';
import type { Log } from '#platform/logger.ts';
import { untilTimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { checkChain } from '#services/ops/audit/chain-status.ts';
import { page, PRIVATE_HEADERS, record } from '../reply.ts';
import { createConcurrencyLimit } from '#platform/concurrency/queues.ts';
import {
  type AuditDependencies,
  exportHistory,
  followHistory,
  readHistoryPage,
} from '#services/ops/audit/history.ts';
import { ExportQuery, filterOf, FollowQuery, HistoryQuery } from '#services/ops/audit/history-query.ts';
import { streamTar } from '#services/ops/audit/tar-archive.ts';
import { Nothing, readQuery } from '#services/ops/validate-query.ts';

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
const stream = async ({ request, reply, headers, source, signal, log }: Sent): Promise<void> => {
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
      const { entries, cursor } = await inTime(() =>
        readHistoryPage(dependencies.db, workspaceId, pageQuery),
      );
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
      await stream({ request, reply, headers, source: lines(), signal, log });
      return reply;
    });
  });

  app.route({
    method: 'GET',
    url: '/ops/workspaces',
    handler: async (request) => {
      readQuery(Nothing, request.query);
      return page(request, await listWorkspaces(dependencies.db));
    },
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
        await stream({ request, reply, headers, source, signal: ending, log });
      } finally {
        await rm(directory, { recursive: true });
      }
      return reply;
    });
  });
};
