import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { openServerChecks } from '#platform/process/readiness.ts';
import {
  environmentWithLocalStack,
  readDatabaseSettings,
  readSettings,
  serverSettings,
} from '#platform/settings.ts';
import { attest, WORDS } from '#services/ops/attest/attest.ts';
import { verifyReport, writeReport } from '#services/ops/attest/report.ts';
import { auditSettings, readPublicKey, readSigningKey } from '#application/audit/signing-key.ts';

const POOL_CLIENTS = 2;

const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;
const Settings = z.object({
  DATABASE_URL,
  EVENT_STORE_URL,
  NATS_URL,
  SERVERS_ALLOW_PLAIN_TEXT,
  ...readDatabaseSettings,
  ...auditSettings,
});

const run = async (
  { verify = false, report }: { verify?: boolean; report?: string },
  command: Command,
): Promise<void> => {
  const settings = readSettings(Settings, environmentWithLocalStack());
  if (report !== undefined && settings.AUDIT_SIGNING_KEY === undefined)
    throw new Refusal(
      'invalid_input',
      'AUDIT_SIGNING_KEY is not set, and reports must be signed. Run `ops audit keygen` to create a key.',
    );
  const signingKey =
    settings.AUDIT_SIGNING_KEY === undefined ? null : readSigningKey(settings.AUDIT_SIGNING_KEY);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  // Connects on first use, so that a server that is gone is a finding and no error.
  await using resources = new AsyncDisposableStack();
  const pool = openPool(settings.DATABASE_URL, POOL_CLIENTS, {
    statement_timeout: LONG_STATEMENT_TIMEOUT_MS,
  });
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(settings.DATABASE_URL));
  const eventStore = resources.use(openEventStore(settings.EVENT_STORE_URL));
  const servers = resources.use(openServerChecks(settings));
  const dependencies = { pool, db, eventStore, serverChecks: servers.checks };
  const rawLog = verify ? openRawLog(settings.EVENT_STORE_URL) : null;
  const result = await attest(dependencies, rawLog, ending.signal);
  if (report !== undefined && signingKey !== null) await writeFile(report, writeReport(result, signingKey));
  process.exitCode = WORDS[result.word].exitCode;
  if (isJson(command)) return console.log(JSON.stringify(result));
  console.log(result.word);
  for (const { name, checked, findings } of result.checks) {
    console.error(onOneLine(`${name}: ${checked}`));
    for (const { word, reason } of findings) console.error(onOneLine(`  ${word}: ${reason}`));
  }
};

/** Exit code of a check without the operator's key, as that of `audit verify`. */
const EXIT_UNSIGNED = 2;

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw Object.assign(new Refusal('invalid_input', `Cannot read ${file}.`), { cause });
  }
};

const check = async (
  file: string,
  { publicKey }: { publicKey?: string },
  command: Command,
): Promise<void> => {
  const held = publicKey === undefined ? null : readPublicKey(await readText(publicKey));
  const verdict = verifyReport(await readText(file), held);
  const { word, attested_at, public_key_id, faults } = verdict;
  if (faults.length > 0) process.exitCode = 1;
  else if (held === null) process.exitCode = EXIT_UNSIGNED;
  if (isJson(command)) return console.log(JSON.stringify(verdict));
  for (const fault of faults) console.log(onOneLine(fault));
  if (faults.length > 0) return console.error('The report was altered after it was written.');
  const signer =
    held === null ? 'signature NOT compared with a key of yours' : `signed with ${public_key_id}`;
  console.log(onOneLine(`unaltered: ${word} at ${attested_at}, ${signer}`));
  if (held === null)
    console.error(
      "Anyone can write a report and sign it with a key of their own. Add --public-key FILE with the operator's key.",
    );
};

const CODES = Object.entries(WORDS)
  .map(([word, { exitCode, meaning }]) => `${word} (${exitCode}): ${meaning}`)
  .join('; ');

export const registerAttestCommand = (program: Command): void => {
  const command = program
    .command('attest')
    .description(`say in a word whether log, read models and histories are whole and healthy. ${CODES}`)
    .option(
      '--verify',
      'compare the log with its digests, read models with a replay, and verify all figures now',
    )
    .option('--report <file>', 'write the result as a signed HTML page, too')
    .action(run);
  command
    .command('verify')
    .description(
      'check a report offline; names what was altered and exits 1, and exits 2 without --public-key',
    )
    .argument('<file>', 'page written by `attest --report`')
    .option('--public-key <file>', "file with the operator's public key, to verify the signer")
    .action(check);
};
