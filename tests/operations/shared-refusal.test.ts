import { expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import {
  createHeavyReads,
  HEAVY_PER_WORKSPACE_MAX,
  WAITING_PER_WORKSPACE_MAX,
} from '#operations/dependencies/heavy-reads.ts';
import { createReadCoalescing } from '#operations/dependencies/read-coalescing.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { type HandlerCall, runEndpointHandler } from '#operations/endpoint/run-handler.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const open = () => {
  const searches: PromiseWithResolvers<readonly never[]>[] = [];
  const db = {
    query: async () => [],
    slow: () => {
      const search = Promise.withResolvers<readonly never[]>();
      searches.push(search);
      return search.promise;
    },
  } as ReadDatabase;
  const endpoint = {
    method: 'GET',
    path: '/v1/ads',
    corpus: true,
    heavy: true,
    reads: [],
    handler: async (_call: unknown, dependencies: { readonly db: ReadDatabase }) => {
      await dependencies.db.slow({ sql: 'select', values: [] });
      return { data: '"found"', asOf: '2026-11-20T09:00:00.000Z' };
    },
  } as unknown as Endpoint;
  const route = { name: 'primary', db, hasReadPrimary: () => true };
  const dependencies = {
    heavyReads: createHeavyReads(),
    coalesceReads: createReadCoalescing(),
    readRoutes: { primary: route, routeOf: () => route, saw: () => undefined, shownUpTo: async () => null },
    baseUrl: 'https://api.test',
  } as unknown as OperationDependencies;
  const read = (workspaceId: string, readKey: string): Promise<unknown> => {
    const caller = { workspaceId, keyId: `key of ${workspaceId}`, memberId: 'member' } as Caller;
    return runEndpointHandler(
      endpoint,
      caller,
      readKey,
      () => ({ caller }) as HandlerCall,
      dependencies,
    ).then(
      ({ data }) => data,
      (error: unknown) => (error instanceof Refusal ? error.code : error),
    );
  };
  return { read, searches };
};

test('a search that is refused for one workspace runs for callers of others, who share it within theirs', async () => {
  const { read, searches } = open();
  const own = Array.from({ length: HEAVY_PER_WORKSPACE_MAX + WAITING_PER_WORKSPACE_MAX }, (_, place) =>
    read('attacker', `q=${place}`),
  );
  await turn();
  expect(searches).toHaveLength(HEAVY_PER_WORKSPACE_MAX);
  const attacker = read('attacker', 'q=shared');
  const others = [read('other', 'q=shared'), read('other', 'q=shared'), read('third', 'q=shared')];
  await turn();
  expect(await attacker).toBe('overloaded');
  expect(searches).toHaveLength(HEAVY_PER_WORKSPACE_MAX + 2);
  for (let place = 0; place < searches.length || place < own.length; place += 1) {
    searches[place]?.resolve([]);
    await turn();
  }
  expect(await Promise.all(others)).toEqual(['"found"', '"found"', '"found"']);
  await Promise.all(own);
});
