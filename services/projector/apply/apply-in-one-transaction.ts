import { formatProjected, PROJECTED_CHANNEL } from '#contracts/messages/projected.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Pipeline, PipelinedStatement } from '#platform/postgres/pipelined-transaction.ts';
import { projectEvents, type Target } from './apply-batch.ts';
import { isCopyGroup, statementOf } from './write-changes.ts';

/** One projection's share of a batch: its events, possibly none, and its stored checkpoint. */
export type Part = {
  readonly target: Target;
  readonly events: readonly RecordedEvent[];
  readonly stored: bigint;
};

/**
 * Moves the checkpoints. Divides by zero if one is not at its expected position, which rolls back the
 * transaction.
 */
const MOVE_CHECKPOINTS = `
  with moved as (
    update projector.projection p set position = $1, facts_applied = facts_applied + i.facts, updated_at = now()
    from unnest($2::text[], $3::bigint[], $4::int[]) i(name, stored, facts)
    where p.name = i.name and p.position = i.stored returning 1)
  select 1 / (count(*) = cardinality($2::text[]))::int from moved`;

/**
 * Prefixes a statement with its schema. Two projections may have equal statements for tables of their own.
 * Without the prefix they would share one prepared plan, which is made again whenever the search path
 * changes.
 */
const inSchema = ({ schema }: Target, { text, values }: PipelinedStatement): PipelinedStatement => ({
  text: `/* ${schema} */ ${text}`,
  ...(values ? { values } : {}),
});

/**
 * Applies a live batch to all projections in one transaction, together with their checkpoints and the
 * notification that the projections in `passed` have reached `position`. A live batch is small: a transaction
 * for each projection would cost more than its rows.
 *
 * Returns false, with nothing written, if a group is large enough for COPY. Throws if anything fails; nothing
 * is written then either, and the caller retries the projections one by one to find the failing one.
 */
export const applyInOneTransaction = async (
  pipeline: Pipeline,
  parts: readonly Part[],
  position: bigint,
  passed: readonly string[],
): Promise<boolean> => {
  const planned = parts.map((part) => ({
    ...part,
    groups: projectEvents(part.target.projection, part.events),
  }));
  if (planned.some(({ groups }) => groups.some(isCopyGroup))) return false;
  const statements: PipelinedStatement[] = planned.flatMap(({ target, groups }) => {
    const written = groups.filter(({ rows }) => rows.length > 0);
    if (written.length === 0) return [];
    return [
      { text: `set local search_path to "${target.schema}", public` },
      ...written.map((group) => inSchema(target, statementOf(target.projection, target.catalog, group))),
    ];
  });
  const values = [
    position,
    parts.map(({ target }) => target.projection.name),
    parts.map(({ stored }) => stored),
    parts.map(({ events }) => events.length),
  ];
  const notice = formatProjected({ position, projections: passed });
  await pipeline.transaction([
    ...statements,
    // The checkpoints are moved last: operators write to these rows too, and wait while a batch holds them.
    // The fixed search path lets this statement be planned once.
    { text: 'set local search_path to public' },
    { text: MOVE_CHECKPOINTS, values },
    { text: `select pg_notify('${PROJECTED_CHANNEL}', $1)`, values: [notice] },
  ]);
  return true;
};
