import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Pipeline, PipelinedStatement } from '#platform/postgres/pipelined-transaction.ts';
import { projectEvents, type Target } from './apply-batch.ts';
import { type Move, moveStatement } from './move-positions.ts';
import type { Running } from './running.ts';
import { isCopyGroup, statementOf } from './write-changes.ts';

/** One projection's share of a batch: its events, possibly none. */
export type Share = { readonly one: Running; readonly events: readonly RecordedEvent[] };

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
 * Applies a live batch to all projections in one transaction, together with their positions and the notification that
 * they have passed it. A live batch is small: a transaction for each projection would cost more than its rows.
 *
 * Returns false, with nothing written, if a group is large enough for COPY. Throws if anything fails; nothing
 * is written then either, and the caller retries the projections one by one to find the failing one.
 */
export const applyInOneTransaction = async (
  pipeline: Pipeline,
  shares: readonly Share[],
  move: Move,
): Promise<boolean> => {
  const planned = shares.map(({ one: { target }, events }) => ({
    target,
    groups: projectEvents(target.projection, events),
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
  await pipeline.transaction([
    ...statements,
    // The positions are moved last: operators write to some of these rows too, and wait while a batch holds them.
    // The fixed search path lets this statement be planned once.
    { text: 'set local search_path to public' },
    moveStatement(move),
  ]);
  return true;
};
