import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { waitsOf, withTimeBudget } from '../concurrency/time-budget.ts';

export type RequestBudgets = {
  /** Milliseconds of a request; `null` for one with limits of its own. */
  readonly budgetOf: (request: FastifyRequest) => number | null;
  /** Replies when the time is over. Without it, the error of a wait is the reply. */
  readonly answerLate?: (request: FastifyRequest, reply: FastifyReply) => void;
};

export const giveTimeBudgets = (app: FastifyInstance, { budgetOf, answerLate }: RequestBudgets): void => {
  app.addHook('preHandler', (request, reply, done) => {
    const budgetMs = budgetOf(request);
    if (budgetMs === null) return done();
    const closed = Promise.withResolvers<void>();
    reply.raw.once('close', closed.resolve);
    const runHandler = (): Promise<void> => {
      done();
      return closed.promise;
    };
    void withTimeBudget(waitsOf(budgetMs), runHandler, () => {
      if (!reply.raw.headersSent) answerLate?.(request, reply);
    });
  });
};
