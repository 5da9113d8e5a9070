import { type Command, Option } from 'commander';
import { type Role, SCOPES_OF_ROLE } from '#contracts/roles.ts';
import { printRecord } from '../output.ts';
import { inOpsRoom } from '../room.ts';
import { addMemberNamed } from '../workspace-operations.ts';

/** `ops member add` */
export const registerMemberCommands = (program: Command): void => {
  const member = program.command('member').description('people of a workspace');
  member
    .command('add')
    .description('add a member')
    .argument('<workspace>', 'workspace id')
    .requiredOption('--name <name>', 'what people call them')
    .addOption(
      new Option('--role <role>', 'what their keys may do')
        .choices(Object.keys(SCOPES_OF_ROLE))
        .makeOptionMandatory(),
    )
    .action(async (workspaceId: string, options: { name: string; role: Role }, command: Command) => {
      printRecord(
        command,
        await inOpsRoom((room) => addMemberNamed(room, workspaceId, options.name, options.role)),
      );
    });
};
