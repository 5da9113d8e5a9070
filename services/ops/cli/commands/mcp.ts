import type { Command } from 'commander';
import { addClient, listClients, removeClient } from '#application/sign-in/authorization-tables.ts';
import { endConnection, LISTED_MAX, listConnections } from '#services/ops/workspaces/connections.ts';
import { loadWorkspace } from '#services/ops/workspaces/operations.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { printRecord, printTable } from '#platform/command-line.ts';

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
    .action(async (workspaceId: string, connectionId: string, _options: object, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => endConnection(dependencies, workspaceId, connectionId)),
      );
    });
  registerClientCommands(mcp);
};

const CLIENT_COLUMNS = ['client_id', 'name', 'redirect_uris'];

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
    .action(async (id: string, redirects: string[], { name }: { name: string }, command: Command) => {
      const added = await withOpsDependencies(({ pool }) =>
        addClient(pool, { client_id: id, name, redirect_uris: redirects }),
      );
      printRecord(command, added);
    });
  client
    .command('list')
    .description('list the apps that operators added')
    .action(async (_options: object, command: Command) => {
      printTable(command, CLIENT_COLUMNS, await withOpsDependencies(({ pool }) => listClients(pool)));
    });
  client
    .command('remove')
    .description(
      'remove an app; it gets no new tokens, and you can end its connections with `connections end`',
    )
    .argument('<id>', 'client id')
    .action(async (id: string, _options: object, command: Command) => {
      const { removed } = await withOpsDependencies(({ pool }) => removeClient(pool, id));
      printRecord(command, { client_id: id, removed });
    });
};
