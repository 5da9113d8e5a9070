import { Command } from 'commander';
import { registerAlertsCommands } from './commands/alerts.ts';
import { registerAuditCommands } from './commands/audit.ts';
import { registerCollectorCommands } from './commands/collectors/collector.ts';
import { registerDeliveryCommands } from './commands/deliveries.ts';
import { registerKeyCommands } from './commands/key.ts';
import { registerMcpCommands } from './commands/mcp.ts';
import { registerLogCommands } from './commands/log/log.ts';
import { registerMemberCommands } from './commands/member.ts';
import { registerNatsCommands } from './commands/servers/nats.ts';
import { registerPlanCommands } from './commands/plan.ts';
import { registerProjectionCommands } from './commands/projections.ts';
import { registerRankingCommands } from './commands/rankings.ts';
import { registerSecurityCommands } from './commands/security.ts';
import { registerVerifyFiguresCommand } from './commands/verify-figures.ts';
import { registerWorkspaceCommands } from './commands/workspace.ts';

/** Creates the operator command line, `npm run ops -- …`. It finds the settings of a running `npm start` by itself. */
export const createProgram = (): Command => {
  const program = new Command('ops').description('operate this service').option('--json', 'print JSON');
  for (const register of [
    registerWorkspaceCommands,
    registerMemberCommands,
    registerKeyCommands,
    registerMcpCommands,
    registerCollectorCommands,
    registerPlanCommands,
    registerRankingCommands,
    registerAuditCommands,
    registerDeliveryCommands,
    registerAlertsCommands,
    registerProjectionCommands,
    registerLogCommands,
    registerNatsCommands,
    registerSecurityCommands,
    registerVerifyFiguresCommand,
  ]) {
    register(program);
  }
  return program;
};
