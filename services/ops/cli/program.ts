import { Command } from 'commander';
import type { CommandGroups, RegisterCommands } from '#platform/command-line.ts';

const loadSecurityCommands = async () => (await import('./commands/servers.ts')).registerSecurityCommands;

export const COMMANDS: CommandGroups = {
  workspace: async () => (await import('./commands/workspace.ts')).registerWorkspaceCommands,
  member: async () => (await import('./commands/workspace.ts')).registerMemberCommands,
  key: async () => (await import('./commands/workspace.ts')).registerKeyCommands,
  mcp: async () => (await import('./commands/workspace.ts')).registerMcpCommands,
  collector: async () => (await import('./commands/workspace.ts')).registerCollectorCommands,
  'brand-request': async () => (await import('./commands/workspace.ts')).registerBrandRequestCommands,
  plan: async () => (await import('./commands/workspace.ts')).registerPlanCommands,
  rankings: async () => (await import('./commands/figures.ts')).registerRankingCommands,
  audit: async () => (await import('./commands/audit.ts')).registerAuditCommands,
  proof: async () => (await import('./commands/proof.ts')).registerProofCommands,
  digest: async () => (await import('./commands/audit.ts')).registerDigestCommands,
  attest: async () => (await import('./commands/attest.ts')).registerAttestCommand,
  deliveries: async () => (await import('./commands/deliveries.ts')).registerDeliveryCommands,
  alerts: async () => (await import('./commands/deliveries.ts')).registerAlertsCommands,
  projections: async () => (await import('./commands/projections.ts')).registerProjectionCommands,
  capacity: async () => (await import('./commands/projections.ts')).registerCapacityCommand,
  log: async () => (await import('./commands/log.ts')).registerLogCommands,
  nats: async () => (await import('./commands/servers.ts')).registerNatsCommands,
  database: loadSecurityCommands,
  vault: loadSecurityCommands,
  verify: async () => (await import('./commands/figures.ts')).registerVerifyFiguresCommand,
};

/** Creates the operator command line, `npm run ops -- …`. It finds the settings of a running `npm start`. */
export const createProgram = (commands: readonly RegisterCommands[]): Command => {
  const program = new Command('ops').description('operate this service').option('--json', 'print JSON');
  for (const register of commands) register(program);
  return program;
};
