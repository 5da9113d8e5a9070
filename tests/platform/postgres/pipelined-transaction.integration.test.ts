import { expect, test } from 'vitest';
import { createPipeline } from '#platform/postgres/pipelined-transaction.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { proxied } from '../../faults/fault-proxy.ts';

const STATEMENT_TIMEOUT_MS = 500;
/** Limit that is less than a pipeline's default timeout. */
const GIVEN_UP = { timeout: 12_000 } as const;

test('a transaction on a connection that died is given up soon after the timeout of its statements', async () => {
  await using own = new AsyncDisposableStack();
  const database = await createTestDatabase();
  own.defer(() => database.drop());
  const { proxy, url } = await proxied(database.url);
  own.use(proxy);
  const pipeline = own.use(createPipeline(url, { statement_timeout: STATEMENT_TIMEOUT_MS }));
  await pipeline.transaction([{ text: 'create table kept (n int)' }]);
  proxy.halfOpen();
  let given: unknown = null;
  const lost = pipeline.transaction([{ text: 'insert into kept values (1)' }]).catch((error: unknown) => {
    given = error;
  });
  await expect.poll(() => String(given), GIVEN_UP).toMatch(/Query read timeout|Connection terminated/);
  await lost;
  await pipeline.transaction([{ text: 'insert into kept values (2)' }]);
});
