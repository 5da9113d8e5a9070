import { type Command, InvalidArgumentError } from 'commander';
import { SCOPES, type Scope } from '#contracts/values/access.ts';
import { printRecord, printTable } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { issueKey, loadApiKeys, loadWorkspace, revokeKey } from '#services/ops/workspaces/operations.ts';

const parseScopes = (text: string): readonly Scope[] | 'all' => {
  if (text === 'all') return 'all';
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(
      `Scope not found: ${unknown.join(', ')}. Valid scopes: ${SCOPES.join(', ')}, or all.`,
    );
  }
  return names as Scope[];
};

export const registerKeyCommands = (program: Command): void => {
  const key = program.command('key').description('manage the API keys of a workspace');
  key
    .command('issue')
    .description('issue a key; the key is printed only once')
    .argument('<workspace>', 'workspace id')
    .requiredOption('--member <member>', 'id of the member who owns the key')
    .requiredOption('--name <name>', 'name that describes its use')
    .requiredOption(
      '--scopes <scopes>',
      'comma-separated scopes, or `all` for every scope of the role',
      parseScopes,
    )
    .action(
      async (
        workspaceId: string,
        options: { member: string; name: string; scopes: readonly Scope[] | 'all' },
        command: Command,
      ) => {
        const { member, name, scopes } = options;
        printRecord(
          command,
          await withOpsDependencies((dependencies) =>
            issueKey(dependencies, workspaceId, member, name, scopes),
          ),
        );
      },
    );
  key
    .command('list')
    .description('list keys, including revoked keys, with their last four characters')
    .argument('<workspace>', 'workspace id')
    .action(async (workspaceId: string, _options: object, command: Command) => {
      const keys = await withOpsDependencies(async (dependencies) => {
        await loadWorkspace(dependencies, workspaceId);
        return await loadApiKeys(dependencies, workspaceId);
      });
      const columns = ['key_id', 'name', 'last_four', 'member_id', 'issued_at', 'revoked_at'];
      printTable(
        command,
        columns,
        keys.map(({ sha256: _sha256, ...one }) => one),
      );
    });
  key
    .command('revoke')
    .description('revoke a key; requests with it fail at once')
    .argument('<workspace>', 'workspace id')
    .argument('<key>', 'key id')
    .action(async (workspaceId: string, keyId: string, _options: object, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => revokeKey(dependencies, workspaceId, keyId)),
      );
    });
};
