import type { Command } from 'commander';
import { z } from 'zod';
import { type CheckedInvariant, checkInvariants } from '#application/invariants/check-invariants.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import { systemClock } from '#platform/clock.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { readQuery } from '../../validate-query.ts';
import { recordAction, withOpsDependencies } from '../dependencies.ts';

/** Seconds to wait for read models that are behind the log, and their maximum. */
const WAIT_SECONDS_DEFAULT = 60;
const WAIT_SECONDS_MAX = 3_600;
/** Delay before violations are read again: a scan that is being recorded causes temporary violations. */
const RECHECK_MS = 3 * SECOND_MS;

const WaitQuery = z.strictObject({
  wait: z.coerce.number().int().min(0).max(WAIT_SECONDS_MAX).default(WAIT_SECONDS_DEFAULT),
});

const MARKS = {
  holds: 'ok',
  violated: 'VIOLATED',
  not_checked: 'not checked',
  left_out: 'left out',
} as const;

const linesOf = (invariant: CheckedInvariant): readonly string[] => {
  const { name, rule, state, figures, violations, first, remedy, reason } = invariant;
  const line = `${MARKS[state].padEnd(11)}  ${name}: ${rule}`;
  if (state === 'holds' || state === 'left_out') return [line];
  if (state === 'not_checked') return [line, `  ${reason}`];
  return [
    line,
    `  ${violations} violations; the first:`,
    ...first.map(({ brand_id, key, one, other }) => {
      const where = [...(brand_id === null ? [] : [`brand ${brand_id}`]), ...(key === '' ? [] : [key])].join(
        ' ',
      );
      return `  ${where}: ${figures[0]} ${one}, ${figures[1]} ${other}`;
    }),
    `  ${remedy}`,
  ];
};

const verify = async (options: object, command: Command): Promise<void> => {
  const { wait } = readQuery(WaitQuery, options);
  const report = await withOpsDependencies(({ pool }) =>
    checkInvariants(pool, {
      invariants: INVARIANTS,
      clock: systemClock,
      waitMs: wait * SECOND_MS,
      recheckMs: RECHECK_MS,
    }),
  );
  if (!report.holds) process.exitCode = 1;
  if (isJson(command)) return console.log(JSON.stringify(report));
  for (const line of report.invariants.flatMap(linesOf)) console.log(onOneLine(line));
  if (report.left_out > 0)
    console.error(`${report.left_out} brands were left out: events of theirs are parked or skipped.`);
};

export const registerVerifyFiguresCommand = (program: Command): void => {
  program
    .command('verify')
    .description('check that the figures of all replies agree, for every brand; exits 1 if they do not')
    .option(
      '--wait <seconds>',
      `wait for read models that are behind, ${WAIT_SECONDS_DEFAULT} seconds by default`,
    )
    .action(verify);
};

export const registerRankingCommands = (program: Command): void => {
  const rankings = program.command('rankings').description('manage the rankings that are rewritten nightly');
  rankings
    .command('rewrite')
    .description('rewrite the list of new advertisers now')
    .action(
      recordAction(async ({ pool }) => {
        await inTransaction(pool, (client) => rewriteNewAdvertisers(client));
        const { rows } = await pool.query<{ as_of: Date | null; brands: number }>(
          `select as_of, (select count(*)::int from nightly.new_advertiser) as brands
           from nightly.rewrite where name = 'new-advertisers'`,
        );
        return {
          list: 'new-advertisers',
          as_of: rows[0]?.as_of?.toISOString() ?? 'never',
          brands: rows[0]?.brands ?? 0,
        };
      }),
    );
};
