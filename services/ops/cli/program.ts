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
import { describeCommandError, describeServerError } from './describe-error.ts';

/** The operator command line, `npm run ops -- …`. It finds the settings of a running `npm start` by itself. */
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

// The reader of a pipe, such as `head`, may close it early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  const ownMessage =
    error instanceof Refusal || error instanceof SettingsError ? error.message : describeCommandError(error);
  const text = ownMessage ?? describeServerError(error);
  if (text === null) throw error;
  console.error(text);
  if (error instanceof SettingsError || ownMessage === null) {
    console.error('While `npm start` runs, no settings are needed. DATA_DIR must name its data folder.');
  }
  process.exitCode = 1;
}
