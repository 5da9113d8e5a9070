import { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { SettingsError } from '#platform/settings.ts';
import { registerAuditCommands } from './commands/audit.ts';
import { registerDeliveryCommands } from './commands/deliveries.ts';
import { registerKeyCommands } from './commands/key.ts';
import { registerLogCommands } from './commands/log.ts';
import { registerMemberCommands } from './commands/member.ts';
import { registerPlanCommands } from './commands/plan.ts';
import { registerProjectionCommands } from './commands/projections.ts';
import { registerRankingCommands } from './commands/rankings.ts';
import { registerSecurityCommands } from './commands/security.ts';
import { registerWorkspaceCommands } from './commands/workspace.ts';
import { placeFault, serverFault } from './describe-error.ts';

/** `npm run ops -- …`: what operators do. Beside a running `npm start` it needs no settings. */
const program = new Command('ops').description('operate this service').option('--json', 'print JSON');

for (const register of [
  registerWorkspaceCommands,
  registerMemberCommands,
  registerKeyCommands,
  registerPlanCommands,
  registerRankingCommands,
  registerAuditCommands,
  registerDeliveryCommands,
  registerProjectionCommands,
  registerLogCommands,
  registerSecurityCommands,
]) {
  register(program);
}

// Who pipes the answer to `head` has seen enough of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  const told = error instanceof Refusal || error instanceof SettingsError ? error.message : placeFault(error);
  const text = told ?? serverFault(error);
  if (text === null) throw error;
  console.error(text);
  if (error instanceof SettingsError || told === null) {
    console.error('Beside a running `npm start` no settings are needed; DATA_DIR is its folder.');
  }
  process.exitCode = 1;
}
