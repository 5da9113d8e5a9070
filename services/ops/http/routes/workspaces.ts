import type { FastifyInstance } from 'fastify';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { listWorkspaces } from '#projections/workspaces/read.ts';
import { OPS_LONG_BUDGET_MS } from '../budgets.ts';
import { page, record } from '../reply.ts';
import { checkChain } from '#services/ops/audit/chain-status.ts';
import { Nothing, readQuery } from '#services/ops/validate-query.ts';

export const registerWorkspaceRoutes = (
  app: FastifyInstance,
  { db }: { readonly db: ReadDatabase },
  ending: AbortSignal,
): void => {
  app.route({
    method: 'GET',
    url: '/ops/workspaces',
    handler: async (request) => {
      readQuery(Nothing, request.query);
      return page(request, await listWorkspaces(db));
    },
  });

  app.get<{ Params: { workspaceId: string } }>(
    '/ops/workspaces/:workspaceId/history/chain',
    { config: { budgetMs: OPS_LONG_BUDGET_MS } },
    async (request, reply) => {
      readQuery(Nothing, request.query);
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const signal = AbortSignal.any([ending, disconnected.signal]);
      return record(request, await checkChain(db, request.params.workspaceId, signal));
    },
  );
};
