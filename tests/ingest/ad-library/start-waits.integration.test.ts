import { expect, test } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { openIntakeServers } from '../fixtures/intake-stack.ts';

const POLL = { timeout: 30_000 } as const;

test('a start waits for no reader of the working tables, and not for rows that are to be deleted', async () => {
  await using own = new AsyncDisposableStack();
  const servers = own.use(await openIntakeServers());
  await (await openIntake(servers))[Symbol.asyncDispose]();
  const database = openPool(servers.databaseUrl, 2);
  own.defer(() => database.end());
  const [reader, locker] = [await database.connect(), await database.connect()];
  await reader.query('begin; select from ingest.ad; select from ingest.library');
  await locker.query('begin; lock table ingest.staged_chunk');
  let opened: 'no' | 'yes' | Error = 'no';
  const open = async (): Promise<void> => {
    try {
      await using _ = await openIntake(servers);
      opened = 'yes';
    } catch (error) {
      opened = error as Error;
    }
  };
  const opening = open();
  own.defer(async () => {
    for (const client of [reader, locker]) client.release(true);
    await opening;
  });
  await expect.poll(() => opened, POLL).toBe('yes');
});
