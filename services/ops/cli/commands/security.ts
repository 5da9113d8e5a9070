import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { environmentWithLocalStack, readSettings, secret, serverSettings } from '#platform/settings.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { grantReads } from '#platform/postgres/read-only-role.ts';
import { rewrapVault } from '#application/vault/rotate-master-key.ts';
import { backUpVaults, restoreVaults } from '#application/vault/backup.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { printRecord } from '../output.ts';

const PASSWORD_MIN_LENGTH = 16;

/** These need Postgres alone, and are run when other servers may not be there. */
const Settings = z.object({
  DATABASE_URL: serverSettings.DATABASE_URL,
  ...vaultSettings,
  READER_PASSWORD: secret(
    z.string().min(PASSWORD_MIN_LENGTH).optional(),
    'Password of the role that may only read, where `database grant-reads` makes it.',
  ),
});

const onDatabase = async <T>(
  run: (database: Database, settings: z.infer<typeof Settings>) => Promise<T>,
): Promise<T> => {
  const settings = readSettings(Settings, environmentWithLocalStack());
  const database = openPool(settings.DATABASE_URL, 1);
  try {
    return await run(database, settings);
  } finally {
    await database.end();
  }
};

/** `ops database grant-reads`, `ops vault rewrap | backup | restore` */
export const registerSecurityCommands = (program: Command): void => {
  program
    .command('database')
    .description('roles of the database')
    .command('grant-reads')
    .description('let a role read the read models, those to come too; READER_PASSWORD makes it')
    .argument('<role>', 'the role that READ_DATABASE_URL names')
    .action(async (role: string, _options: object, command: Command) => {
      const granted = await onDatabase((database, { READER_PASSWORD }) =>
        grantReads(database, role, READER_PASSWORD ?? null),
      );
      printRecord(command, granted);
    });
  const vault = program.command('vault').description('what is kept sealed');
  vault
    .command('rewrap')
    .description('seal under MEMBER_VAULT_KEY what is still sealed under MEMBER_VAULT_KEY_SECOND')
    .action(async (_options: object, command: Command) => {
      const done = await onDatabase((database, { MEMBER_VAULT_KEY, MEMBER_VAULT_KEY_SECOND }) => {
        if (MEMBER_VAULT_KEY === undefined || MEMBER_VAULT_KEY_SECOND === undefined) {
          throw new Refusal('invalid_input', 'Set MEMBER_VAULT_KEY and MEMBER_VAULT_KEY_SECOND.');
        }
        return rewrapVault(database, MEMBER_VAULT_KEY, MEMBER_VAULT_KEY_SECOND);
      });
      printRecord(command, done);
    });
  vault
    .command('backup')
    .description('write the vaults to a file, sealed as they are')
    .argument('<file>', 'a new file')
    .action(async (file: string, _options: object, command: Command) => {
      const lines = await onDatabase(backUpVaults);
      // Never over a backup that is there already.
      await writeFile(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600, flag: 'wx' });
      printRecord(command, { file, entries: lines.length });
    });
  vault
    .command('restore')
    .description('put back what a backup of the vaults has and they have not')
    .argument('<file>', 'a file that backup wrote')
    .action(async (file: string, _options: object, command: Command) => {
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
      const restored = await onDatabase((database) => restoreVaults(database, lines));
      printRecord(command, { file, entries: lines.length, restored });
    });
};
