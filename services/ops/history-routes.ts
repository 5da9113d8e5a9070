import type { FastifyInstance, FastifyReply } from 'fastify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { MANIFEST_FILE } from '#contracts/audit/manifest.ts';
import { type AuditRoom, exportHistory, followHistory, readHistoryPage } from './audit/history.ts';
import { ExportQuery, filterOf, FollowQuery, HistoryQuery, readQuery } from './audit/history-query.ts';
import { tarOf } from './audit/tar.ts';

type Workspace = { Params: { workspaceId: string } };

/** `follow` chooses between the two shapes of the same address. */
const Follow = z.looseObject({ follow: z.enum(['true', 'false']).optional() });

/** Sends a stream whose head is decided: from here on a fault can only end the connection. */
const stream = async (
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  source: AsyncIterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> => {
  reply.hijack();
  reply.raw.writeHead(200, headers).flushHeaders();
  try {
    await pipeline(Readable.from(source, { objectMode: false }), reply.raw, { signal });
  } catch (error) {
    reply.raw.destroy();
    // The reader went away, or this process is ending: neither is a fault.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ABORT_ERR' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
};

/** The history of a workspace: pages, as it comes, and as an export that `ops audit verify` checks. */
export const registerHistoryRoutes = (app: FastifyInstance, room: AuditRoom, ending: AbortSignal): void => {
  app.get<Workspace>('/ops/workspaces/:workspaceId/history', async (request, reply) => {
    const { workspaceId } = request.params;
    const { follow, ...query } = readQuery(Follow, request.query);
    if (follow !== 'true') {
      const { entries, cursor } = await readHistoryPage(room.db, workspaceId, readQuery(HistoryQuery, query));
      const meta = { request_id: request.id, as_of: new Date().toISOString(), lag_hours: 0 };
      return {
        data: entries,
        meta: { ...meta, ...(cursor === null ? {} : { cursor }), count: entries.length },
      };
    }
    const wanted = readQuery(FollowQuery, query);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const signal = AbortSignal.any([ending, gone.signal]);
    const entries = await followHistory(room.db, workspaceId, filterOf(wanted), wanted.after, signal);
    const lines = async function* (): AsyncGenerator<string> {
      for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
    };
    const headers = { 'content-type': 'application/x-ndjson', 'x-request-id': request.id };
    await stream(reply, headers, lines(), signal);
    return reply;
  });

  app.get<Workspace>('/ops/workspaces/:workspaceId/history/export', async (request, reply) => {
    const { workspaceId } = request.params;
    const { format } = readQuery(ExportQuery, request.query);
    // Written first, since the manifest and the archive both say how long the files are.
    const directory = await mkdtemp(join(tmpdir(), 'history-export-'));
    try {
      const { files } = await exportHistory(room, workspaceId, format, directory);
      const names = [...files.map(({ name }) => name), MANIFEST_FILE];
      const headers = {
        'content-type': 'application/x-tar',
        'content-disposition': `attachment; filename="history-${workspaceId.replace(/\W/g, '_')}.tar"`,
        'x-request-id': request.id,
      };
      await stream(reply, headers, tarOf(directory, names), ending);
    } finally {
      await rm(directory, { recursive: true });
    }
    return reply;
  });
};
