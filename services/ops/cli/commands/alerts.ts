import type { Command } from 'commander';
import {
  listWaitingStreams,
  nextWaitingCursor,
  WAITING_PAGE_MAX,
  WaitingQuery,
} from '#services/ops/alerts/waiting-streams.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { isJson, printTable } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';

const waiting = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(WaitingQuery, options);
  const streams = await withOpsDependencies(({ pool }) => listWaitingStreams(pool, query));
  printTable(command, ['stream', 'type', 'version', 'revision', 'position', 'waiting', 'since'], streams);
  const next = nextWaitingCursor(streams, query.limit);
  if (next !== null && !isJson(command)) console.error(`More: --after ${next}`);
};

export const registerAlertsCommands = (program: Command): void => {
  const alerts = program.command('alerts').description('inspect the matching of alert rules');
  alerts
    .command('waiting')
    .description(
      'list streams that wait for a newer release, each with the event that this release cannot read',
    )
    .option('--limit <number>', `maximum streams, up to ${WAITING_PAGE_MAX}`)
    .option('--after <stream>', 'last stream of the previous page')
    .action(waiting);
};
