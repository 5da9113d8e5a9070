import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { printRecord } from '#platform/command-line.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';
import { adoptLog } from '#services/ops/log/adopt-log.ts';

const { DATABASE_URL: databaseUrl, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;

const adopt = async ({ yes = false }: { readonly yes?: boolean }, command: Command): Promise<void> => {
  if (!yes) {
    throw new Refusal(
      'invalid_input',
      'This drops all read models and positions in the database. They are computed again from the log of EVENT_STORE_URL. ' +
        'Confirm with --yes.',
    );
  }
  const { DATABASE_URL } = readSettings(
    z.object({ DATABASE_URL: databaseUrl, SERVERS_ALLOW_PLAIN_TEXT }),
    environmentWithLocalStack(),
  );
  const pool = openPool(DATABASE_URL, 1, { statement_timeout: LONG_STATEMENT_TIMEOUT_MS });
  try {
    printRecord(command, { dropped: await adoptLog(pool) });
  } finally {
    await pool.end();
  }
};

export const addAdoptCommand = (log: Command): void => {
  log
    .command('adopt')
    .description('drop what was computed from another log, so that it is computed from this one')
    .option('--yes', 'confirm')
    .action(adopt);
};
