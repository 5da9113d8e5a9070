import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Pipeline, PipelinedStatement } from '#platform/postgres/pipelined-transaction.ts';
import { projectEvents } from '#application/read-models/project-events.ts';
import type { Target } from './apply-batch.ts';
import { type Move, moveStatement } from './move-positions.ts';
import type { Running } from './running.ts';
import { isCopyGroup, statementOf } from '#application/read-models/write-changes.ts';

export type Share = { readonly one: Running; readonly events: readonly RecordedEvent[] };

/** Adds the schema: otherwise equal statements share one plan, which each change of the path invalidates. */
const inSchema = ({ schema }: Target, { text, values }: PipelinedStatement): PipelinedStatement => ({
  text: `/* ${schema} */ ${text}`,
  ...(values ? { values } : {}),
});

/**
 * Applies a small batch to all projections in one transaction, because a transaction per projection costs more than its
 * rows. Returns false, with nothing written, if a group is large enough for COPY. After an error the caller retries the
 * projections one by one.
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
    // Moves the positions last, to hold their row locks briefly: operators also write to these rows. The fixed search
    // path lets the server plan this statement once.
    { text: 'set local search_path to public' },
    moveStatement(move),
  ]);
  return true;
};
