import { isHeldSql } from '#platform/postgres/leader-lock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Checks, readModelsMade } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import { fromProjector } from '../projections/projector-tables.ts';

/** Fewer than these are on their way, at any load this service was measured with. */
const BEHIND_EVENTS = 10_000;

const NAMES = projections.map(({ name }) => name);

type Standing = {
  readonly name: string;
  readonly is_owned: boolean;
  readonly is_paused: boolean;
  readonly is_failed: boolean;
  readonly stands_still: boolean;
  readonly lag_facts: number;
};

const STANDINGS = `
  select p.name, ${isHeldSql('p.name')} as is_owned, p.is_paused, p.state = 'failed' as is_failed,
    p.standing_since is not null as stands_still, l.lag_facts::float8 as lag_facts
  from projector.projection p join projector.lag l using (name) where p.name = any($1) order by p.name`;

/** How many there are first, for who reads no further: `2 of 31 paused: ads, radar`. */
const sentence = (what: string, standings: readonly Standing[], all: number): readonly string[] =>
  standings.length === 0
    ? []
    : [`${standings.length} of ${all} ${what}: ${standings.map(({ name }) => name).join(', ')}`];

/**
 * What the service as a whole lacks, beyond that its servers answer. Tables that no code is left for are nobody's to
 * project, and nothing is missing by that.
 */
export const serviceChecks = (pool: Database): Checks => ({
  read_models: readModelsMade(pool, NAMES),
  projector: async () => {
    const { rows } = await fromProjector(() => pool.query<Standing>(STANDINGS, [NAMES]));
    const found = (what: string, applies: (one: Standing) => boolean): readonly string[] =>
      sentence(what, rows.filter(applies), rows.length);
    const reasons = [
      ...found('projected by nobody', (one) => !one.is_owned),
      ...found('paused', (one) => one.is_paused),
      ...found('could not be built anew', (one) => one.is_failed),
      ...found('stand still', (one) => one.stands_still && !one.is_paused),
      ...found(`more than ${BEHIND_EVENTS} events behind`, (one) => one.lag_facts > BEHIND_EVENTS),
    ];
    return reasons.length === 0 ? null : reasons.join('; ');
  },
});
