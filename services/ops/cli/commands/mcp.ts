import type { Command } from 'commander';
import { endConnection, listConnections } from '#services/ops/workspaces/connections.ts';
import { loadWorkspace } from '#services/ops/workspaces/operations.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { printRecord, printTable } from '../output.ts';

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

/** `ops mcp connections list|end` */
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
};
