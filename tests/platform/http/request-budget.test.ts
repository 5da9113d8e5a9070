import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { hasTimeBudget, timeLeft, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { giveTimeBudgets } from '#platform/http/request-budget.ts';

const BUDGETS: Readonly<Record<string, number | null>> = { '/short': 700, '/long': 60_000, '/stream': null };

test('a handler runs in the time of its route, which ends for its waits, and is answered then', async () => {
  const app = fastify();
  const waits: string[] = [];
  giveTimeBudgets(app, {
    budgetOf: ({ routeOptions }) => BUDGETS[routeOptions.url ?? ''] ?? null,
    answerLate: (_request, reply) => void reply.status(503).send('late'),
  });
  app.get('/short', async () => {
    await untilTimeUsedUp(new Promise(() => undefined)).catch((error: Error) => {
      waits.push(error.name);
      throw error;
    });
  });
  app.get('/long', async () => ({ leftMs: timeLeft(Number.POSITIVE_INFINITY) }));
  app.get('/stream', async () => ({ isBounded: hasTimeBudget() }));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => app.close());
  const inject = async (url: string) => {
    const { statusCode, body } = await app.inject(url);
    return { statusCode, body };
  };
  const [short, long, stream] = await Promise.all([inject('/short'), inject('/long'), inject('/stream')]);
  expect(short).toEqual({ statusCode: 503, body: 'late' });
  expect(waits).toEqual(['TimeUsedUp']);
  const { leftMs } = JSON.parse(long.body) as { leftMs: number };
  // A part is for the reply.
  expect(leftMs).toBeGreaterThan(50_000);
  expect(leftMs).toBeLessThan(60_000);
  expect(JSON.parse(stream.body)).toEqual({ isBounded: false });
});
