import { canonicalJson } from '#contracts/audit/canonical.ts';
import { GENESIS_HASH, toHistoryRecord, WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import type { Projection } from '../define-projection.ts';

/**
 * The audit history, chained by hashes in log order. Events of different streams do not commute, which is safe: all are
 * changes of one statement, which sorts a batch by position, and batches arrive in log order.
 */
export const workspaceHistory: Projection = {
  name: 'workspace-history',
  version: 3,
  prefixes: WORKSPACE_CATEGORIES.map((category) => `${category}-`),
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    chain: {
      columns: {
        workspace_id: 'text',
        position: 'numeric',
        revision: 'numeric',
        record: 'text',
        type: 'text',
        actor: 'text',
        recorded_at: 'text',
        category: 'text',
        resource_id: 'text',
      },
      touches: ['entry'],
      sql: `
        insert into entry (workspace_id, sequence, hash, record, type, actor, recorded_at, category, resource_id)
        with numbered as (
          select i.*, coalesce(head.hash, '${GENESIS_HASH}') as first_before,
            coalesce(head.sequence, 0) + row_number() over in_order as sequence
          from :input i left join lateral (
            select hash, sequence from entry e
            where e.workspace_id = i.workspace_id order by e.sequence desc limit 1
          ) head on true
          window in_order as (partition by i.workspace_id order by i.position, i.revision)
        )
        select workspace_id, sequence,
          chain(first_before, sequence, record) over (partition by workspace_id order by sequence),
          record, type, actor, recorded_at, category, resource_id
        from numbered`,
    },
  },
  project: (event) => {
    const record = toHistoryRecord(event);
    const { workspace_id, type, actor, recorded_at, resource } = record;
    const row = {
      workspace_id,
      position: event.position,
      revision: event.revision,
      record: canonicalJson(record),
      type,
      actor: `${actor.kind}:${actor.id}`,
      recorded_at,
      category: resource.category,
      resource_id: resource.id,
    };
    return [{ kind: 'run', statement: 'chain', row }];
  },
};
