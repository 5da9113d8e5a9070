import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { environmentWithLocalStack, readSettings, secret, serverSettings } from '#platform/settings.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { grantReads } from '#platform/postgres/read-only-role.ts';
import { rotateMasterKey } from '#application/vault/rotate-master-key.ts';
import { backUpVaults, restoreVaults } from '#application/vault/backup.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { applyStreams, compareStreams, natsStreamSettings } from '#platform/nats/streams.ts';

const PASSWORD_MIN_LENGTH = 16;

/** These commands need Postgres only, so they run while other servers are down. */
const VaultSettings = z.object({
  DATABASE_URL: serverSettings.DATABASE_URL,
  ...vaultSettings,
  READER_PASSWORD: secret(
    z.string().min(PASSWORD_MIN_LENGTH).optional(),
    'Password for the read-only role, if `database grant-reads` creates it.',
  ),
});

const onDatabase = async <T>(
  run: (database: Database, settings: z.infer<typeof VaultSettings>) => Promise<T>,
): Promise<T> => {
  const settings = readSettings(VaultSettings, environmentWithLocalStack());
  const database = openPool(settings.DATABASE_URL, 1);
  try {
    return await run(database, settings);
  } finally {
    await database.end();
  }
};

export const registerSecurityCommands = (program: Command): void => {
  program
    .command('database')
    .description('manage the roles of the database')
    .command('grant-reads')
    .description('grant a role read access to all read models, also future ones; READER_PASSWORD creates it')
    .argument('<role>', 'role in READ_DATABASE_URL')
    .action(async (role: string, _options: object, command: Command) => {
      const granted = await onDatabase((database, { READER_PASSWORD }) =>
        grantReads(database, role, READER_PASSWORD ?? null),
      );
      printRecord(command, granted);
    });
  const vault = program.command('vault').description('manage encrypted data (names, addresses, secrets)');
  vault
    .command('rewrap')
    .description('re-encrypt with the first key of MEMBER_VAULT_KEY all data still encrypted with its second')
    .action(async (_options: object, command: Command) => {
      const done = await onDatabase((database, { MEMBER_VAULT_KEY = [] }) => {
        const [key, secondKey] = MEMBER_VAULT_KEY;
        if (key === undefined || secondKey === undefined) {
          throw new Refusal(
            'invalid_input',
            'MEMBER_VAULT_KEY must hold the new key and the old one. Set both, with a comma between.',
          );
        }
        return rotateMasterKey(database, key, secondKey);
      });
      printRecord(command, done);
    });
  vault
    .command('backup')
    .description('write the vaults, sign-ins and apps to a file; names and secrets stay encrypted')
    .argument('<file>', 'path of a new file')
    .action(async (file: string, _options: object, command: Command) => {
      const lines = await onDatabase(backUpVaults);
      // `wx`: fails rather than overwrite an existing backup.
      await writeFile(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600, flag: 'wx' });
      printRecord(command, { file, entries: lines.length });
    });
  vault
    .command('restore')
    .description('restore the entries of a backup that are missing')
    .argument('<file>', 'file written by `vault backup`')
    .action(async (file: string, _options: object, command: Command) => {
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
      const restored = await onDatabase((database) => restoreVaults(database, lines));
      printRecord(command, { file, entries: lines.length, restored });
    });
};

const { NATS_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;
const NatsSettings = z.object({ NATS_URL, SERVERS_ALLOW_PLAIN_TEXT, ...natsStreamSettings });

const withNats = async <T>(run: (nats: Nats) => Promise<T>): Promise<T> => {
  const settings = readSettings(NatsSettings, environmentWithLocalStack());
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
