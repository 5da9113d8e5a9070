import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import type { TableComparison } from '#contracts/messages/projector.ts';
import {
  cancelVerification,
  isVerificationOver,
  requestVerification,
  type Verification,
  VerifyQuery,
  watchVerification,
} from '#services/ops/projections/verification.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { createProgressBars, createWaitingNotice, formatState } from '../progress.ts';

/** Maximum wait for a running projector to stop a cancelled verification. */
const CANCEL_WAIT_MS = 5_000;

const keyText = (key: Readonly<Record<string, string | null>>): string =>
  Object.entries(key)
    .map(([column, value]) => `${column}=${value ?? 'null'}`)
    .join(' ');

const differenceLines = ({
  table,
  live_rows,
  replayed_rows,
  groups,
  first_keys,
}: TableComparison): string[] => [
  `${table}: ${live_rows} rows live, ${replayed_rows} replayed`,
  ...(groups === null ? [] : [`  differs for ${groups.count} ${groups.column}: ${groups.first.join(', ')}`]),
  ...first_keys.map(({ key, only_in, columns }) => {
    const what =
      only_in === null
        ? `differs in ${columns.join(', ')}`
        : only_in === 'live'
          ? 'is unexpected'
          : 'is missing';
    return `  ${keyText(key)}: ${what}`;
  }),
];

const print = (verification: Verification): void => {
  const { name, state, error, report } = verification;
  if (!isVerificationOver(verification))
    return console.error(
      `${name}: ${formatState(state)}. The verification is cancelled when a projector is running.`,
    );
  if (report === null) return console.error(onOneLine(`${name}: ${state}. ${error ?? ''}`).trim());
  const { position, facts: events, left_out, tables } = report;
  const without = left_out === 0 ? '' : `, without ${left_out} parked or skipped events`;
  if (state === 'passed') {
    return console.log(
      `${name}: ${tables.length} tables equal a replay of ${events} events up to position ${position}${without}.`,
    );
  }
  for (const table of tables.filter((one) => !one.is_equal)) {
    for (const line of differenceLines(table)) console.log(onOneLine(line));
  }
  console.error(
    `${name}: the tables differ from a replay of ${events} events up to position ${position}${without}.`,
  );
};

/** Ctrl-C cancels the verification, because only this command reads the result. */
const verify = async (name: string, options: object, command: Command): Promise<void> => {
  const { to } = readQuery(VerifyQuery, options);
  const verification = await withOpsDependencies(async ({ pool }) => {
    await requestVerification(pool, name, { to: to ?? null, by: 'ops' });
    const cancelling = new AbortController();
    const cancel = (): void => cancelling.abort();
    process.once('SIGINT', cancel);
    const progress = createProgressBars();
    const noticeWaiting = createWaitingNotice();
    try {
      const seen = await watchVerification(
        pool,
        name,
        ({ facts: events, total_facts, state }) => {
          progress.show(name, events, total_facts, state, 0, null);
          noticeWaiting(state);
        },
        cancelling.signal,
      );
      if (!cancelling.signal.aborted) return seen;
      await cancelVerification(pool, name).catch((error: unknown) => {
        // The verification ended at the same moment.
        if (!(error instanceof Refusal)) throw error;
      });
      return await watchVerification(pool, name, () => undefined, AbortSignal.timeout(CANCEL_WAIT_MS));
    } finally {
      progress.end();
      process.off('SIGINT', cancel);
    }
  });
  if (verification?.state !== 'passed') process.exitCode = 1;
  if (isJson(command)) console.log(JSON.stringify(verification));
  else if (verification) print(verification);
};

export const registerVerifyCommand = (group: Command): void => {
  group
    .command('verify')
    .description(
      'replay into a shadow schema and compare with the live tables; exits 1 if they differ; Ctrl-C cancels',
    )
    .argument('<name>', 'name of a projection')
    .option('--to <position>', 'log position at which the projection is held meanwhile')
    .action(verify);
};
