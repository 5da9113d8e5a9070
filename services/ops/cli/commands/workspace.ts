import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { BrandRequestStatus } from '#contracts/resources/workspace/brand-request.ts';
import { PLANS, type Role, SCOPES, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import { listAllBrandRequests } from '#projections/brand-requests/read.ts';
import { listMembers, listWorkspaces } from '#projections/workspaces/read.ts';
import { printTable } from '#platform/command-line.ts';
import { addClient, listClients, removeClient } from '#application/sign-in/authorization-tables.ts';
import { recordAction, tableAction, withOpsDependencies } from '../dependencies.ts';
import {
  LISTED_MAX,
  acceptRequest,
  addPerson,
  createWorkspaceNamed,
  decryptPerson,
  endConnection,
  erasePerson,
  invitePerson,
  issueCollectorKey,
  issueKey,
  listConnections,
  loadApiKeys,
  loadCollectorKeys,
  loadTaskCounts,
  loadWorkspace,
  refuseRequest,
  revokeCollector,
  revokeKey,
  setPlan,
} from '../../workspaces.ts';
import { openTestWorkspace } from '../../test-world.ts';

export const registerWorkspaceCommands = (program: Command): void => {
  const workspace = program.command('workspace').description('create and list workspaces');
  workspace
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'display name')
    .addOption(
      new Option('--plan <plan>', 'plan; sets brand slots and requests per minute')
        .choices(Object.keys(PLANS))
        .default('free'),
    )
    .action(
      recordAction((dependencies, { name, plan }: { name: string; plan: Plan }) =>
        createWorkspaceNamed(dependencies, name, plan),
      ),
    );
  workspace
    .command('test-world')
    .description('create the public workspace of a test world, or complete it; needs TEST_MODE')
    .action(recordAction(openTestWorkspace));
  workspace
    .command('list')
    .description('list workspaces, newest first')
    .action(
      tableAction(['workspace_id', 'name', 'plan', 'members', 'created_at'], ({ db }) => listWorkspaces(db)),
    );
};

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
      recordAction(
        (dependencies, workspaceId: string, options: { name: string; email?: string; role: Role }) => {
          const { name, email = null, role } = options;
          return addPerson(dependencies, workspaceId, { name, email }, role);
        },
      ),
    );
  member
    .command('invite')
    .description(
      'print a link with which a member signs in to connect apps: once, within a day, without e-mail',
    )
    .argument('<workspace>', 'workspace id')
    .argument('<member>', 'member id')
    .action(recordAction(invitePerson));
  member
    .command('list')
    .description('list the members of a workspace')
    .argument('<workspace>', 'workspace id')
    .action(
      tableAction(
        ['member_id', 'role', 'name', 'email', 'added_at'],
        async (dependencies, workspaceId: string) => {
          await loadWorkspace(dependencies, workspaceId);
          return Promise.all(
            (await listMembers(dependencies.db, workspaceId)).map(async (row) => ({
              member_id: row.member_id,
              role: row.role,
              ...(await decryptPerson(dependencies.memberVault, workspaceId, row)),
              added_at: row.added_at,
            })),
          );
        },
      ),
    );
  member
    .command('erase')
    .description("erase a member's name and address for good and revoke their keys; history stays verifiable")
    .argument('<workspace>', 'workspace id')
    .argument('<member>', 'member id')
    .action(recordAction(erasePerson));
};

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

const KEY_COLUMNS = ['key_id', 'name', 'last_four', 'member_id', 'issued_at', 'revoked_at'];

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
      recordAction(
        (
          dependencies,
          workspaceId: string,
          { member, name, scopes }: { member: string; name: string; scopes: readonly Scope[] | 'all' },
        ) => issueKey(dependencies, workspaceId, member, name, scopes),
      ),
    );
  key
    .command('list')
    .description('list keys, including revoked keys, with their last four characters')
    .argument('<workspace>', 'workspace id')
    .action(
      tableAction(KEY_COLUMNS, async (dependencies, workspaceId: string) => {
        await loadWorkspace(dependencies, workspaceId);
        return (await loadApiKeys(dependencies, workspaceId)).map(({ sha256: _sha256, ...one }) => one);
      }),
    );
  key
    .command('revoke')
    .description('revoke a key; requests with it fail at once')
    .argument('<workspace>', 'workspace id')
    .argument('<key>', 'key id')
    .action(recordAction(revokeKey));
};

const COLUMNS = [
  'connection_id',
  'app',
  'identified_by',
  'redirect_host',
  'member_id',
  'scopes',
  'allowed_at',
  'connected',
];

export const registerMcpCommands = (program: Command): void => {
  const mcp = program.command('mcp').description('manage what apps may do through the MCP server');
  const connections = mcp.command('connections').description('manage the connections of apps to a workspace');
  connections
    .command('list')
    .description('list the connections of apps that have not ended')
    .argument('<workspace>', 'workspace id')
    .action(async (workspaceId: string, _options: object, command: Command) => {
      const rows = await withOpsDependencies(async (dependencies) => {
        await loadWorkspace(dependencies, workspaceId);
        return await listConnections(dependencies, workspaceId);
      });
      printTable(command, COLUMNS, rows);
      if (rows.length === LISTED_MAX) console.error(`The newest ${LISTED_MAX} connections are listed.`);
    });
  connections
    .command('end')
    .description('end a connection; calls with its tokens fail at once')
    .argument('<workspace>', 'workspace id')
    .argument('<connection>', 'connection id')
    .action(recordAction(endConnection));
  registerClientCommands(mcp);
};

const registerClientCommands = (mcp: Command): void => {
  const client = mcp.command('client').description('manage the apps that you vouch for');
  client
    .command('add')
    .description('add an app, or replace the one of this id; members see that you added it')
    .argument('<id>', 'client id that the app is configured with')
    .argument(
      '<redirect...>',
      'addresses that the browser may return to, such as https://app.example/callback',
    )
    .requiredOption('--name <name>', 'name that members see')
    .action(
      recordAction(({ pool }, id: string, redirects: string[], { name }: { name: string }) =>
        addClient(pool, { client_id: id, name, redirect_uris: redirects }),
      ),
    );
  client
    .command('list')
    .description('list the apps that operators added')
    .action(tableAction(['client_id', 'name', 'redirect_uris'], ({ pool }) => listClients(pool)));
  client
    .command('remove')
    .description(
      'remove an app; it gets no new tokens, and you can end its connections with `connections end`',
    )
    .argument('<id>', 'client id')
    .action(
      recordAction(async ({ pool }, id: string) => {
        const { removed } = await removeClient(pool, id);
        return { client_id: id, removed };
      }),
    );
};

export const registerPlanCommands = (program: Command): void => {
  const plan = program.command('plan').description('manage the plan of a workspace');
  plan
    .command('set')
    .description('set the plan of a workspace')
    .argument('<workspace>', 'workspace id')
    .addArgument(new Argument('<plan>', 'new plan').choices(Object.keys(PLANS)))
    .action(recordAction(setPlan));
};

export const registerBrandRequestCommands = (program: Command): void => {
  const request = program.command('brand-request').description('decide on brands that workspaces ask for');
  request
    .command('list')
    .description('list requests of all workspaces, newest first')
    .addOption(
      new Option('--status <status>', 'requests of this status only').choices(BrandRequestStatus.options),
    )
    .action(
      tableAction(
        [
          'workspace_id',
          'request_id',
          'status',
          'domain',
          'social_page_id',
          'track',
          'requested_at',
          'reason',
        ],
        ({ db }, { status }: { status?: BrandRequestStatus }) => listAllBrandRequests(db, status ?? null),
      ),
    );
  request
    .command('accept')
    .description('ask the collectors to look at the domain; also after a refusal')
    .argument('<workspace>', 'workspace id')
    .argument('<request>', 'request id')
    .action(recordAction(acceptRequest));
  request
    .command('refuse')
    .description('refuse a request that is not ready; the workspace reads the reason')
    .argument('<workspace>', 'workspace id')
    .argument('<request>', 'request id')
    .requiredOption('--reason <reason>', 'a sentence for the workspace')
    .action(
      recordAction((dependencies, workspaceId: string, requestId: string, { reason }: { reason: string }) =>
        refuseRequest(dependencies, workspaceId, requestId, reason),
      ),
    );
};

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
    .action(
      recordAction((dependencies, name: string, { types }: { types?: readonly string[] }) =>
        issueCollectorKey(dependencies, name, types ?? null),
      ),
    );
  collector
    .command('list')
    .description('list keys, including revoked keys, with their last four characters')
    .action(
      tableAction(['key_id', 'name', 'last_four', 'types', 'issued_at', 'revoked_at'], async (dependencies) =>
        (await loadCollectorKeys(dependencies)).map((key) => ({ ...key, types: key.types ?? ['all'] })),
      ),
    );
  collector
    .command('revoke')
    .description('revoke a key; the next request with it fails')
    .argument('<key>', 'key id')
    .action(recordAction(revokeCollector));
  collector
    .command('tasks')
    .description('count the tasks of each type: leased now, and ended in the last 24 hours')
    .action(
      tableAction(
        ['type', 'leased', 'done', 'failed', 'expired', 'failing', 'last_reason'],
        async (dependencies) => [...(await loadTaskCounts(dependencies))],
      ),
    );
};
