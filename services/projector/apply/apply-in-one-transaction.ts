import { encodeProjected, PROJECTED_CHANNEL } from '#contracts/messages/projected.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Pipeline, PipelinedStatement } from '#platform/postgres/pipelined-transaction.ts';
import { planEvents, type Target } from './apply-batch.ts';
import { isCopied, statementOf } from './write-changes.ts';

/** Of one projection: the events of a batch that concern it, if any, and where its checkpoint is stored now. */
export type Part = {
  readonly target: Target;
  readonly events: readonly RecordedEvent[];
  readonly stored: bigint;
};

/** Divides by zero, and so rolls everything back, where a checkpoint is not where it was known to be. */
const MOVE_CHECKPOINTS = `
  with moved as (
    update projector.projection p set position = $1, facts_applied = facts_applied + i.facts, updated_at = now()
    from unnest($2::text[], $3::bigint[], $4::int[]) i(name, stored, facts)
    where p.name = i.name and p.position = i.stored returning 1)
  select 1 / (count(*) = cardinality($2::text[]))::int from moved`;

/**
 * Two projections may have the same words for tables of their own: they are two statements, since one plan would be
 * made anew each time that the search path is another.
 */
const inSchema = ({ schema }: Target, { text, values }: PipelinedStatement): PipelinedStatement => ({
  text: `/* ${schema} */ ${text}`,
  ...(values ? { values } : {}),
});

/**
 * Applies a live batch to all projections in one transaction, with their checkpoints and the notice to readers that
 * `passed` have: what has just arrived is little, and a transaction for each projection costs more than its rows.
 *
 * Answers false, with nothing done, where a part is too large for that. Throws when anything fails; then too nothing
 * is done, and the caller finds out which projection it was, one by one.
 */
export const applyTogether = async (
  pipeline: Pipeline,
  parts: readonly Part[],
  position: bigint,
  passed: readonly string[],
): Promise<boolean> => {
  const planned = parts.map((part) => ({ ...part, groups: planEvents(part.target.projection, part.events) }));
  if (planned.some(({ groups }) => groups.some(isCopied))) return false;
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
  const notice = encodeProjected({ position, projections: passed });
  await pipeline.transaction([
    ...statements,
    // Last, since operators write to these rows, and wait while a batch does; by one search path, to be planned once.
    { text: 'set local search_path to public' },
    { text: MOVE_CHECKPOINTS, values },
    { text: `select pg_notify('${PROJECTED_CHANNEL}', $1)`, values: [notice] },
  ]);
  return true;
};
