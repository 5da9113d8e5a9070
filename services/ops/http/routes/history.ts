import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { MANIFEST_FILE } from '#contracts/audit/manifest.ts';
import type { Log } from '#platform/logger.ts';
import { page, PRIVATE_HEADERS } from '../reply.ts';
import { atMost } from '#platform/concurrency/concurrency-limit.ts';
import {
  type AuditDependencies,
  exportHistory,
  followHistory,
  readHistoryPage,
} from '#services/ops/audit/history.ts';
import { ExportQuery, filterOf, FollowQuery, HistoryQuery } from '#services/ops/audit/history-query.ts';
import { tarOf } from '#services/ops/audit/tar-archive.ts';
import { readQuery } from '#services/ops/validate-query.ts';

type Workspace = { Params: { workspaceId: string } };
export type HistoryDependencies = AuditDependencies & { readonly log: Log };

/** Each who follows looks into the table several times a second. */
const FOLLOWERS_MAX = 50;
/** Each export lies in the folder for temporary files until it is sent. */
const EXPORTS_MAX = 4;

/** `follow` chooses between the two shapes of the same address. */
const Follow = z.looseObject({ follow: z.enum(['true', 'false']).optional() });

type Sent = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: AsyncIterable<string | Buffer>;
  readonly signal: AbortSignal;
  readonly log: Log;
};

/** Sends a stream whose head is decided: from here on a fault can only end the connection, and is told to the log. */
const stream = async ({ request, reply, headers, source, signal, log }: Sent): Promise<void> => {
  const told = async function* (): AsyncGenerator<string | Buffer> {
    try {
      yield* source;
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, request_id: request.id }, 'an answer broke off');
      throw error;
    }
  };
  reply.hijack();
  reply.raw.writeHead(200, { ...PRIVATE_HEADERS, ...headers, 'x-request-id': request.id }).flushHeaders();
  try {
    await pipeline(Readable.from(told(), { objectMode: false }), reply.raw, { signal });
  } catch {
    // The reader went away, or this process is ending, or it is told already.
    reply.raw.destroy();
  }
};

/** The history of a workspace: pages, as it comes, and as an export that `ops audit verify` checks. */
export const registerHistoryRoutes = (
  app: FastifyInstance,
  dependencies: HistoryDependencies,
  ending: AbortSignal,
): void => {
  const { log } = dependencies;
  const following = atMost(FOLLOWERS_MAX, 'histories that are followed');
  const exporting = atMost(EXPORTS_MAX, 'exports');

  app.get<Workspace>('/ops/workspaces/:workspaceId/history', async (request, reply) => {
    const { workspaceId } = request.params;
    const { follow, ...query } = readQuery(Follow, request.query);
    if (follow !== 'true') {
      const { entries, cursor } = await readHistoryPage(
        dependencies.db,
        workspaceId,
        readQuery(HistoryQuery, query),
      );
      return page(request, entries, cursor);
    }
    const wanted = readQuery(FollowQuery, query);
    return await following(async () => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const signal = AbortSignal.any([ending, gone.signal]);
      const entries = await followHistory(
        dependencies.db,
        workspaceId,
        filterOf(wanted),
        wanted.after,
        signal,
      );
      const lines = async function* (): AsyncGenerator<string> {
        for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
      };
      const headers = { 'content-type': 'application/x-ndjson' };
      await stream({ request, reply, headers, source: lines(), signal, log });
      return reply;
    });
  });

  app.get<Workspace>('/ops/workspaces/:workspaceId/history/export', async (request, reply) => {
    const { workspaceId } = request.params;
    const { format } = readQuery(ExportQuery, request.query);
    return await exporting(async () => {
      // Written first, since the manifest and the archive both say how long the files are.
      const directory = await mkdtemp(join(tmpdir(), 'history-export-'));
      try {
        const { files } = await exportHistory(dependencies, workspaceId, format, directory);
        const headers = {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="history-${workspaceId.replace(/\W/g, '_')}.tar"`,
        };
        const source = tarOf(directory, [...files.map(({ name }) => name), MANIFEST_FILE]);
        await stream({ request, reply, headers, source, signal: ending, log });
      } finally {
        await rm(directory, { recursive: true });
      }
      return reply;
    });
  });
};
