import type { Command } from 'commander';
import { z } from 'zod';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import { openNats, type Nats } from '#platform/nats/connection.ts';
import { applyStreams, compareStreams, natsStreamSettings } from '#platform/nats/streams.ts';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';

const { NATS_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;
const Settings = z.object({ NATS_URL, SERVERS_ALLOW_PLAIN_TEXT, ...natsStreamSettings });

const withNats = async <T>(run: (nats: Nats) => Promise<T>): Promise<T> => {
  const settings = readSettings(Settings, environmentWithLocalStack());
  await using nats = await openNats(settings.NATS_URL, 'ops-command', settings);
  return await run(nats);
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const streams = async (_options: object, command: Command): Promise<void> => {
  const { found, differences } = await withNats(async ({ manager, streamSettings }) => {
    const rows = [];
    for await (const { config, state, cluster } of manager.streams.list()) {
      const copies = cluster?.replicas ?? [];
      rows.push({
        stream: config.name,
        messages: state.messages,
        bytes: state.bytes,
        replicas: config.num_replicas,
        leader: cluster?.leader ?? '',
        behind: copies.filter(({ current, offline }) => !current || offline).length,
      });
    }
    return { found: rows, differences: await compareStreams(manager, streamSettings) };
  });
  if (isJson(command)) return console.log(JSON.stringify({ streams: found, differences }));
  printTable(command, ['stream', 'messages', 'bytes', 'replicas', 'leader', 'behind'], found);
  if (differences.length === 0) return;
  console.log('\nValues that differ from those of the settings; `nats apply` changes them:');
  const shown = differences.map(({ is, ours, ...one }) => ({ ...one, is: textOf(is), ours: textOf(ours) }));
  printTable(command, ['stream', 'value', 'is', 'ours'], shown);
};

const apply = async (_options: object, command: Command): Promise<void> => {
  const changed = await withNats(async ({ manager, streamSettings }) => {
    const differences = await compareStreams(manager, streamSettings);
    await applyStreams(manager, streamSettings);
    return differences.length;
  });
  printRecord(command, { values_changed: changed });
};

export const registerNatsCommands = (program: Command): void => {
  const nats = program
    .command('nats')
    .description('inspect the streams of NATS, and apply the settings to them');
  nats
    .command('streams')
    .description('list the streams, their copies, and values that differ from the settings')
    .action(streams);
  nats
    .command('apply')
    .description('give existing streams the values of NATS_REPLICAS, OBSERVATIONS_MAX_GB and this release')
    .action(apply);
};
