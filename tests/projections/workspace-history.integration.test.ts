import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { chainHash, GENESIS_HASH, type HistoryEntry, toHistoryRecord } from '#contracts/audit/entry.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { workspaceHistory } from '#projections/workspace-history/project.ts';
import { findHistoryHead, listHistory } from '#projections/workspace-history/read.ts';
import { type GivenEvent, given, recorded } from '../dsl/projections.ts';

const event = (stream: string, type: string, data: object = {}): GivenEvent => ({
  stream,
  event: { type, data },
});

/** Two workspaces with several interleaved streams each, and a corpus event that belongs to no workspace. */
const events: readonly GivenEvent[] = [
  event('workspace-ws_1', 'WorkspaceCreated', { name: 'Größe "1"\n\u2028\u0000 😀', plan: 'free' }),
  event('workspace-ws_2', 'WorkspaceCreated', { plan: 'pro' }),
  event('brand-1', 'BrandRegistered'),
  event('tracking-ws_1', 'BrandTracked', { b: 1e21, a: -0.5 }),
  event('collection-ws_1+col_1', 'CollectionCreated'),
  event('tracking-ws_2', 'BrandTracked'),
  event('collection-ws_1+col_1', 'CollectionRenamed'),
  event('tracking-ws_1', 'BrandUntracked'),
  event('workspace-ws_1', 'PlanChanged'),
];

/** The chain as the contract defines it, computed without a database. */
const expectedOf = (workspaceId: string): HistoryEntry[] => {
  let before = GENESIS_HASH;
  return recorded(events)
    .filter(({ stream }) => stream.includes(workspaceId))
    .map((one, index) => {
      const record = toHistoryRecord(one);
      before = chainHash(before, index + 1, canonicalJson(record));
      return { sequence: index + 1, ...record, hash: before };
    });
};

const all = { limit: 100, after: 0 };
const sequences = async (entries: Promise<readonly HistoryEntry[]>) =>
  (await entries).map((one) => one.sequence);

describe('workspace history', () => {
  it('chains the events of each workspace in log order for any batch sizes', async () => {
    await given(events)
      .into(workspaceHistory)
      .shows(
        async (db) => [
          await listHistory(db, 'ws_1', {}, all),
          await listHistory(db, 'ws_2', {}, all),
          await findHistoryHead(db, 'ws_1'),
          await findHistoryHead(db, 'ws_3'),
        ],
        [
          expectedOf('ws_1'),
          expectedOf('ws_2'),
          { sequence: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
          null,
        ],
      );
  });

  it('filters by type, actor, time, resource and sequence', async () => {
    const read = async (db: ReadDatabase) => [
      await sequences(listHistory(db, 'ws_1', {}, { limit: 2 })),
      await sequences(listHistory(db, 'ws_1', {}, { limit: 2, before: 5 })),
      await sequences(listHistory(db, 'ws_1', { type: 'BrandTracked' }, all)),
      await sequences(listHistory(db, 'ws_1', { actor: 'service:tests' }, { ...all, after: 4 })),
      await sequences(listHistory(db, 'ws_1', { actor: 'member:test' }, all)),
      await sequences(listHistory(db, 'ws_1', { until: '1970-01-01T00:00:00.000Z' }, all)),
      await sequences(listHistory(db, 'ws_1', { since: '1970-01-01T00:00:00.000Z' }, { limit: 1 })),
      await sequences(listHistory(db, 'ws_1', { category: 'collection', resourceId: 'ws_1+col_1' }, all)),
    ];
    await given(events)
      .into(workspaceHistory)
      .shows(read, [[6, 5], [4, 3], [2], [5, 6], [], [], [6], [3, 4]]);
  });
});
