import { type Command, Option } from 'commander';
import { type Role, SCOPES_OF_ROLE } from '#contracts/values/access.ts';
import { listMembers } from '#projections/workspaces/read.ts';
import { addPerson, erasePerson, decryptPerson, invitePerson } from '#services/ops/workspaces/members.ts';
import { printRecord, printTable } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { loadWorkspace } from '#services/ops/workspaces/operations.ts';

export const registerMemberCommands = (program: Command): void => {
  const member = program.command('member').description('manage the members of a workspace');
  member
    .command('add')
    .description('add a member')
    .argument('<workspace>', 'workspace id')
    .requiredOption('--name <name>', 'display name')
    .option('--email <address>', 'e-mail address (stored encrypted)')
    .addOption(
      new Option('--role <role>', 'role; limits the scopes of their keys')
        .choices(Object.keys(SCOPES_OF_ROLE))
        .makeOptionMandatory(),
    )
    .action(
      async (
        workspaceId: string,
        options: { name: string; email?: string; role: Role },
        command: Command,
      ) => {
        const { name, email = null, role } = options;
        const added = await withOpsDependencies((dependencies) =>
          addPerson(dependencies, workspaceId, { name, email }, role),
        );
        printRecord(command, added);
      },
    );
  member
    .command('invite')
    .description(
      'print a link with which a member signs in to connect apps: once, within a day, without e-mail',
    )
    .argument('<workspace>', 'workspace id')
    .argument('<member>', 'member id')
    .action(async (workspaceId: string, memberId: string, _options: object, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => invitePerson(dependencies, workspaceId, memberId)),
      );
    });
  member
    .command('list')
    .description('list the members of a workspace')
    .argument('<workspace>', 'workspace id')
    .action(async (workspaceId: string, _options: object, command: Command) => {
      const rows = await withOpsDependencies(async (dependencies) => {
        await loadWorkspace(dependencies, workspaceId);
        return Promise.all(
          (await listMembers(dependencies.db, workspaceId)).map(async (row) => ({
            member_id: row.member_id,
            role: row.role,
            ...(await decryptPerson(dependencies.memberVault, workspaceId, row)),
            added_at: row.added_at,
          })),
        );
      });
      printTable(command, ['member_id', 'role', 'name', 'email', 'added_at'], rows);
    });
  member
    .command('erase')
    .description("erase a member's name and address for good and revoke their keys; history stays verifiable")
    .argument('<workspace>', 'workspace id')
    .argument('<member>', 'member id')
    .action(async (workspaceId: string, memberId: string, _options: object, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => erasePerson(dependencies, workspaceId, memberId)),
      );
    });
};
