import type { Command } from 'commander';
import { inTransaction } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { printRecord } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';

export const registerRankingCommands = (program: Command): void => {
  const rankings = program.command('rankings').description('manage the rankings that are rewritten nightly');
  rankings
    .command('rewrite')
    .description('rewrite the list of new advertisers now')
    .action(async (_options: object, command: Command) => {
      const written = await withOpsDependencies(async ({ pool }) => {
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
      });
      printRecord(command, written);
    });
};
