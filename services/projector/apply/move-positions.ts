import { PROJECTED_CHANNEL, formatProjected } from '#contracts/messages/projector.ts';
import type { PipelinedStatement } from '#platform/postgres/pipelined-transaction.ts';
import { PROJECTIONS } from '../control/lease-names.ts';
import { type Cursor, nameOf, type Running } from './running.ts';

/** A projection that stays behind because its batch failed. */
export type Failed = { readonly one: Running; readonly error: string; readonly delayMs: number };

export type Move = {
  readonly cursor: Cursor | null;
  readonly position: bigint;
  readonly passed: readonly Running[];
  readonly failed: readonly Failed[];
  /** Events that this transaction applied, by projection. */
  readonly applied: ReadonlyMap<string, number>;
};

const KEY = `b.part = '${PROJECTIONS.part}' and b.projection = i.name and b.position = i.held and b.epoch = i.epoch`;

/**
 * Moves the shared cursor and the rows of other projections. Divides by zero, to roll back, if a position or an epoch
 * differs.
 */
const MOVE = `
  with counted as (
    update projector.read_model m set facts_applied = m.facts_applied + i.facts, updated_at = now()
    from unnest($4::text[], $5::int[]) i(name, facts) where m.name = i.name
  ), cursor as (
    update run.progress set position = $2::bigint
    where kind = '${PROJECTIONS.kind}' and part = '${PROJECTIONS.part}' and position = $1::bigint and epoch = $3::bigint
    returning 1
  ), held as (
    select * from unnest($6::text[], $7::bigint[], $8::bigint[], $9::bigint[]) i(name, held, epoch, next)
  ), joined as (
    delete from projector.behind b using held i where i.next is null and ${KEY} returning 1
  ), advanced as (
    update projector.behind b set position = i.next, error = null, next_try = null,
      state = case when b.state = 'apart' then b.state else 'catching_up' end
    from held i where i.next is not null and ${KEY} returning 1
  ), failed as (
    insert into projector.behind as b (projection, part, position, epoch, state, error, next_try)
    select i.name, '${PROJECTIONS.part}', i.held, i.epoch, 'failing', i.error, now() + make_interval(secs => i.delay)
    from unnest($10::text[], $11::bigint[], $12::bigint[], $13::text[], $14::float8[]) i(name, held, epoch, error, delay)
    on conflict (projection, part) do update set error = excluded.error, next_try = excluded.next_try,
      state = case when b.state = 'apart' then b.state else excluded.state end
    where b.position = excluded.position and b.epoch = excluded.epoch
    returning 1
  )
  select pg_notify('${PROJECTED_CHANNEL}', $15),
    1 / ((select count(*) from cursor) = ($1::bigint is not null)::int
      and (select count(*) from joined) + (select count(*) from advanced) = cardinality($6::text[])
      and (select count(*) from failed) = cardinality($10::text[]))::int`;

/** `null` when the projection is at the cursor afterwards. */
const nextOf = (position: bigint, cursorAfter: bigint | null): bigint | null =>
  cursorAfter !== null && position === cursorAfter ? null : position;

/** A reader group that catches up below the cursor does not move it. */
export const cursorAfter = ({ cursor, position }: Pick<Move, 'cursor' | 'position'>): bigint | null =>
  cursor === null ? null : position > cursor.position ? position : cursor.position;

export const moveStatement = (move: Move): PipelinedStatement => {
  const { cursor, position, passed, failed, applied } = move;
  const after = cursorAfter(move);
  const held = passed.flatMap((one) => {
    const { row } = one;
    if (row === null) return [];
    const next = nextOf(position > one.position ? position : one.position, after);
    return next === row.position ? [] : [{ name: nameOf(one), row, next }];
  });
  return {
    text: MOVE,
    values: [
      cursor?.position ?? null,
      after,
      cursor?.epoch ?? null,
      [...applied.keys()],
      [...applied.values()],
      held.map(({ name }) => name),
      held.map(({ row }) => row.position),
      held.map(({ row }) => row.epoch),
      held.map(({ next }) => next),
      failed.map(({ one }) => nameOf(one)),
      failed.map(({ one }) => one.row?.position ?? cursor?.position),
      failed.map(({ one }) => one.row?.epoch ?? cursor?.epoch),
      failed.map(({ error }) => error),
      failed.map(({ delayMs }) => delayMs / 1_000),
      formatProjected({ position, projections: passed.map(nameOf) }),
    ],
  };
};

export const recordMove = (move: Move): void => {
  const { cursor, position, passed, failed } = move;
  const after = cursorAfter(move);
  for (const { one } of failed) {
    one.row ??= { position: cursor?.position ?? one.position, epoch: cursor?.epoch ?? 0n };
    one.position = one.row.position;
  }
  for (const one of passed) {
    if (one.position < position) one.position = position;
    if (one.row === null) continue;
    const next = nextOf(one.position, after);
    one.row = next === null ? null : { ...one.row, position: next };
  }
  if (cursor !== null && after !== null) cursor.position = after;
};
