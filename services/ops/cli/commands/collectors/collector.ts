import type { Command } from 'commander';
import {
  issueCollectorKey,
  loadCollectorKeys,
  loadTaskCounts,
  revokeCollector,
} from '#services/ops/collectors/operations.ts';
import { withOpsDependencies } from '../../dependencies.ts';
import { printRecord, printTable } from '#platform/command-line.ts';

const parseTypes = (text: string): readonly string[] =>
  text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');

export const registerCollectorCommands = (program: Command): void => {
  const collector = program.command('collector').description('manage the keys of third-party collectors');
  collector
    .command('issue')
    .description('issue a key for the intake; the key is printed only once')
    .argument('<name>', 'name with which the `collector` of every scan begins')
    .option('--types <types>', 'comma-separated types of observations; all when not set', parseTypes)
    .action(async (name: string, { types }: { types?: readonly string[] }, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => issueCollectorKey(dependencies, name, types ?? null)),
      );
    });
  collector
    .command('list')
    .description('list keys, including revoked keys, with their last four characters')
    .action(async (_options: object, command: Command) => {
      const keys = await withOpsDependencies(loadCollectorKeys);
      const columns = ['key_id', 'name', 'last_four', 'types', 'issued_at', 'revoked_at'];
      printTable(
        command,
        columns,
        keys.map((key) => ({ ...key, types: key.types ?? ['all'] })),
      );
    });
  collector
    .command('revoke')
    .description('revoke a key; the next request with it fails')
    .argument('<key>', 'key id')
    .action(async (keyId: string, _options: object, command: Command) => {
      printRecord(command, await withOpsDependencies((dependencies) => revokeCollector(dependencies, keyId)));
    });
  collector
    .command('tasks')
    .description('count the tasks of each type: leased now, and ended in the last 24 hours')
    .action(async (_options: object, command: Command) => {
      const columns = ['type', 'leased', 'done', 'failed', 'expired', 'failing', 'last_reason'];
      printTable(command, columns, [...(await withOpsDependencies(loadTaskCounts))]);
    });
};
