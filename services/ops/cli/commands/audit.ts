import { type Command, Option } from 'commander';
import { readFile, stat } from 'node:fs/promises';
import type { HistoryEntry } from '#contracts/audit/entry.ts';
import { EXPORT_FORMATS, type ExportFormat } from '#contracts/audit/manifest.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  FollowQuery,
  HistoryQuery,
  PAGE_MAX,
  exportHistory,
  filterOf,
  followHistory,
  readHistoryPage,
} from '#services/ops/audit/history.ts';
import { makeDigest, readDigests, verifyDigests } from '#application/audit/log-digest.ts';
import {
  type SigningKey,
  createSigningKey,
  publicKeyId,
  readPublicKey,
  readSigningKey,
} from '#application/audit/signing-key.ts';
import { verifyExport } from '#services/ops/audit/verify-export.ts';
import { isJson, onOneLine, printRecord, printTable } from '#platform/command-line.ts';
import { systemClock } from '#platform/clock.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { type OpsDependencies, recordAction, tableAction, withOpsDependencies } from '../dependencies.ts';

const withFilters = (command: Command): Command =>
  command
    .argument('<workspace>', 'workspace id')
    .option('--type <type>', 'event type, such as BrandTracked')
    .option('--actor <kind:id>', 'actor that caused the entry, such as member:mem_…')
    .option('--since <time>', 'earliest time (inclusive)')
    .option('--until <time>', 'latest time (exclusive)')
    .option('--resource <category[:id]>', 'changed resource, such as apiKeys');

const asFields = ({ sequence, recorded_at, type, actor, resource, request_id }: HistoryEntry) => ({
  sequence,
  recorded_at,
  type,
  actor: `${actor.kind}:${actor.id}`,
  resource: `${resource.category}:${resource.id}`,
  request_id,
});

const list = async (workspaceId: string, options: object, command: Command): Promise<void> => {
  const query = readQuery(HistoryQuery, options);
  const page = await withOpsDependencies((dependencies) => readHistoryPage(dependencies, workspaceId, query));
  if (isJson(command)) return console.log(JSON.stringify(page));
  const columns = ['sequence', 'recorded_at', 'type', 'actor', 'resource', 'sentence'];
  const rows = page.entries.map((entry) => ({ ...asFields(entry), sentence: entry.sentence }));
  printTable(command, columns, rows);
  if (page.cursor !== null) console.error(`More: --cursor ${page.cursor}`);
};

const follow = async (workspaceId: string, options: object, command: Command): Promise<void> => {
  const query = readQuery(FollowQuery, options);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  await withOpsDependencies(async ({ db }) => {
    const entries = await followHistory(db, workspaceId, filterOf(query), query.after, ending.signal);
    for await (const entry of entries) {
      const line = Object.values(asFields(entry)).join('  ');
      console.log(isJson(command) ? JSON.stringify(entry) : onOneLine(line));
    }
  });
};

const exportTo = async (
  workspaceId: string,
  { format, out }: { format: ExportFormat; out: string },
  command: Command,
): Promise<void> => {
  const manifest = await withOpsDependencies((dependencies) =>
    exportHistory(dependencies, workspaceId, format, out),
  );
  const { entries, last_sequence, head_hash, public_key_id } = manifest;
  printRecord(command, { directory: out, entries, last_sequence, head_hash, public_key_id });
};

/** Exit code of a verification without the operator's key. Anyone can sign a changed export with another key. */
const EXIT_UNSIGNED = 2;

/** Needs no server and no setting, so a verifier need not trust the exporter. */
const verify = async (
  directory: string,
  options: { publicKey?: string; unsigned?: boolean },
  command: Command,
): Promise<void> => {
  const held = options.publicKey === undefined ? null : readPublicKey(await readText(options.publicKey));
  await requireFolder(directory);
  const { manifest, key_compared, faults } = await verifyExport(directory, held);
  const record = { manifest, key_compared, faults };
  if (faults.length > 0) {
    process.exitCode = 1;
    if (isJson(command)) return console.log(JSON.stringify(record));
    for (const { message } of faults) console.log(onOneLine(message));
    return console.error('The export was changed after it was written.');
  }
  if (!key_compared && options.unsigned !== true) process.exitCode = EXIT_UNSIGNED;
  if (isJson(command)) return console.log(JSON.stringify(record));
  const {
    entries = 0,
    workspace_id = '',
    last_sequence = 0,
    head_hash = '',
    public_key_id = '',
  } = manifest ?? {};
  console.log(
    onOneLine(
      `${entries} entries of ${workspace_id}, up to entry ${last_sequence}: ` +
        (key_compared ? 'complete and unchanged.' : 'chain whole, signature NOT checked.'),
    ),
  );
  const signer = key_compared ? 'signed with key' : 'says that it is signed with key';
  console.log(onOneLine(`head hash ${head_hash}, ${signer} ${public_key_id}`));
  if (!key_compared && options.unsigned !== true) {
    console.error(
      "Anyone can change an export and sign it with a key of their own. Add --public-key FILE with the operator's key, or --unsigned to accept this.",
    );
  }
};

/** Throws `invalid_input` when the path is not a folder. Otherwise a mistyped path would look like a damaged export. */
const requireFolder = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) throw new Refusal('invalid_input', `Export folder not found: ${path}.`);
};

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw Object.assign(new Refusal('invalid_input', `Cannot read ${file}.`), { cause });
  }
};

const requireSigningKey = ({ auditSigningKey }: OpsDependencies): SigningKey => {
  if (auditSigningKey === null)
    throw new Refusal('not_found', 'AUDIT_SIGNING_KEY is not set. Run `ops audit keygen` to create a key.');
  return readSigningKey(auditSigningKey);
};

const printPublicKey = async (_options: object, command: Command): Promise<void> => {
  const { publicKey } = await withOpsDependencies(async (dependencies) => requireSigningKey(dependencies));
  if (isJson(command)) {
    return printRecord(command, {
      public_key_id: publicKeyId(publicKey),
      public_key: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    });
  }
  process.stdout.write(publicKey.export({ type: 'spki', format: 'pem' }));
};

const DIGESTS_LISTED = 100;
const DIGEST_COLUMNS = [
  'sequence',
  'made_at',
  'recorded_until',
  'events',
  'streams',
  'root',
  'public_key_id',
];

export const registerDigestCommands = (program: Command): void => {
  const digest = program.command('digest').description('sign the log, and check it by its signed digests');
  digest
    .command('make')
    .description('sign a digest of the log up to now; the worker does so each night')
    .action(
      recordAction(async (dependencies) => {
        const { pool: database, rawLog: log, eventStore } = dependencies;
        const signingKey = requireSigningKey(dependencies);
        const maker = { database, log, eventStore, signingKey, service: 'ops', clock: systemClock };
        const made = await makeDigest(maker);
        if (made === null) throw new Refusal('not_found', 'The log has no events yet.');
        return made;
      }),
    );
  digest
    .command('list')
    .description(`list the newest ${DIGESTS_LISTED} digests`)
    .action(tableAction(DIGEST_COLUMNS, ({ pool }) => readDigests(pool, DIGESTS_LISTED)));
  digest
    .command('verify')
    .description('compare the whole log with each digest in it; exits 1 if the log was altered')
    .action(
      recordAction(async ({ pool: database, rawLog: log, eventStore }) => {
        const last = await verifyDigests({ database, log, eventStore });
        if (last === null)
          throw new Refusal('not_found', 'The log has no digests. `ops digest make` signs one.');
        return last;
      }),
    );
};

export const registerAuditCommands = (program: Command): void => {
  const audit = program.command('audit').description('read, export and verify the history of a workspace');
  withFilters(audit.command('list').description('list entries, newest first'))
    .option('--limit <number>', `maximum entries, up to ${PAGE_MAX}`)
    .option('--cursor <cursor>', 'cursor of the previous page')
    .action(list);
  withFilters(audit.command('follow').description('print new entries until Ctrl-C'))
    .option('--after <sequence>', 'sequence number to start after (default: new entries only)')
    .action(follow);
  audit
    .command('export')
    .description('write the complete history, with a signed manifest')
    .argument('<workspace>', 'workspace id')
    .addOption(
      new Option('--format <format>', 'format of the entries').choices(EXPORT_FORMATS).makeOptionMandatory(),
    )
    .requiredOption('--out <directory>', 'folder to write to (created if missing)')
    .action(exportTo);
  audit
    .command('verify')
    .description(
      'verify an export offline; lists every change and exits 1 if there are any, and exits 2 without --public-key',
    )
    .argument('<directory>', 'folder of the export')
    .option('--public-key <file>', "file with the operator's public key, to verify the signer")
    .option('--unsigned', 'exit 0 for a whole chain although the signature is not checked')
    .action(verify);
  audit
    .command('keygen')
    .description('create a key for AUDIT_SIGNING_KEY')
    .action((_options: object, command: Command) => printRecord(command, createSigningKey()));
  audit.command('public-key').description('print the public key for auditors').action(printPublicKey);
};
