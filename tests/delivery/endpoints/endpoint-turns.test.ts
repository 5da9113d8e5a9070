import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEndpointTurns } from '#services/delivery/endpoints/endpoint-turns.ts';
import { runs } from '#tests/property-seed.ts';

const names = (turns: ReturnType<typeof createEndpointTurns>, room: number, places = 1) =>
  turns.next(room, () => places).map(({ endpoint }) => endpoint);

test('serves workspaces in turn, and of each the endpoint that was served least recently', () => {
  const turns = createEndpointTurns();
  for (const endpoint of ['a1', 'a2', 'a3']) turns.add(endpoint, 'a');
  turns.add('b1', 'b');
  expect(names(turns, 2)).toEqual(['a1', 'b1']);
  expect(names(turns, 2)).toEqual(['a2', 'b1']);
  turns.add('c1', 'c');
  expect(names(turns, 4)).toEqual(['a3', 'b1', 'c1', 'a1']);
});

test('gives each endpoint its places within the room, and skips those without places, which keep their turn', () => {
  const turns = createEndpointTurns();
  for (const endpoint of ['full', 'x', 'y', 'z']) turns.add(endpoint, endpoint);
  const placesAt = (endpoint: string): number => (endpoint === 'full' ? 0 : 4);
  expect(turns.next(10, placesAt)).toEqual([
    { endpoint: 'x', places: 4 },
    { endpoint: 'y', places: 4 },
    { endpoint: 'z', places: 2 },
  ]);
  expect(names(turns, 1)).toEqual(['full']);
  expect(turns.next(0, placesAt)).toEqual([]);
  turns.remove('x');
  expect(turns.size()).toBe(3);
});

test('each endpoint is served once before another of its workspace is served twice, and so is each workspace', () => {
  const Workspaces = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(Workspaces, fc.integer({ min: 1, max: 9 }), (sizes, room) => {
      const turns = createEndpointTurns();
      for (const [workspace, size] of sizes.entries())
        for (let n = 0; n < size; n += 1) turns.add(`${workspace}/${n}`, String(workspace));
      const served: string[] = [];
      // Two turns of each endpoint of the largest workspace.
      while (served.length < 2 * sizes.length * Math.max(...sizes)) served.push(...names(turns, room));
      const gapMax = (all: readonly string[], one: string, limit: number): void => {
        let since = 0;
        for (const other of all) {
          since = other === one ? 0 : since + 1;
          expect(since).toBeLessThan(limit);
        }
      };
      const workspacesServed = served.map((endpoint) => endpoint.split('/')[0] ?? '');
      for (const [workspace, size] of sizes.entries()) {
        // A further call serves other endpoints of larger workspaces first.
        if (room === 1) gapMax(workspacesServed, String(workspace), sizes.length);
        const own = served.filter((endpoint) => endpoint.startsWith(`${workspace}/`));
        for (let n = 0; n < size; n += 1) gapMax(own, `${workspace}/${n}`, size);
      }
    }),
    { numRuns: runs(100) },
  );
});
