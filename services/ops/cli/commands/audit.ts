import { type Command, Option } from 'commander';
import { readFile, stat } from 'node:fs/promises';
import type { HistoryEntry } from '#contracts/audit/entry.ts';
import { EXPORT_FORMATS, type ExportFormat } from '#contracts/audit/manifest.ts';
import { Refusal } from '#contracts/errors.ts';
import { exportHistory, followHistory, readHistoryPage } from '#services/ops/audit/history.ts';
import { filterOf, FollowQuery, HistoryQuery, PAGE_MAX } from '#services/ops/audit/history-query.ts';
import {
  createSigningKey,
  publicKeyId,
  readPublicKey,
  readSigningKey,
} from '#services/ops/audit/signing-key.ts';
import { verifyExport } from '#services/ops/audit/verify-export.ts';
import { isJson, onOneLine, printRecord, printTable } from '../output.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies } from '../dependencies.ts';

const withFilters = (command: Command): Command =>
  command
    .argument('<workspace>', 'workspace id')
    .option('--type <type>', 'entries of this type, as BrandTracked')
    .option('--actor <kind:id>', 'entries that this actor caused, as member:mem_…')
    .option('--since <time>', 'entries recorded at or after this time')
    .option('--until <time>', 'entries recorded before this time')
    .option('--resource <category[:id]>', 'entries about this');

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
  const page = await withOpsDependencies(({ db }) => readHistoryPage(db, workspaceId, query));
  if (isJson(command)) return console.log(JSON.stringify(page));
  const columns = ['sequence', 'recorded_at', 'type', 'actor', 'resource', 'request_id'];
  printTable(command, columns, page.entries.map(asFields));
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

/** Needs no server and no setting: who verifies need not trust who exported. */
const verify = async (
  directory: string,
  options: { publicKey?: string },
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
    return console.error('This export is not as it was made.');
  }
  if (isJson(command)) return console.log(JSON.stringify(record));
  const {
    entries = 0,
    workspace_id = '',
    last_sequence = 0,
    head_hash = '',
    public_key_id = '',
  } = manifest ?? {};
  console.log(
    onOneLine(`${entries} entries of ${workspace_id}, up to ${last_sequence}: whole and unchanged.`),
  );
  console.log(onOneLine(`head hash ${head_hash}, signed by the key ${public_key_id}`));
  if (!key_compared) {
    console.error('The key was taken from the export itself. To know who signed, give --public-key.');
  }
};

/** Of a path that is mistyped nothing is said about an export. */
const requireFolder = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) throw new Refusal('invalid_input', `${path} is no folder of an export.`);
};

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw Object.assign(new Refusal('invalid_input', `${file} cannot be read.`), { cause });
  }
};

const printPublicKey = async (_options: object, command: Command): Promise<void> => {
  const text = await withOpsDependencies(({ auditSigningKey }) => Promise.resolve(auditSigningKey));
  if (text === null) throw new Refusal('not_found', 'AUDIT_SIGNING_KEY is not set.');
  const { publicKey } = readSigningKey(text);
  if (isJson(command)) {
    return printRecord(command, {
      public_key_id: publicKeyId(publicKey),
      public_key: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    });
  }
  process.stdout.write(publicKey.export({ type: 'spki', format: 'pem' }));
};

/** `ops audit list|follow|export|verify|keygen|public-key` */
export const registerAuditCommands = (program: Command): void => {
  const audit = program.command('audit').description('the history of a workspace, chained and exportable');
  withFilters(audit.command('list').description('list entries, newest first'))
    .option('--limit <number>', `entries at once, up to ${PAGE_MAX}`)
    .option('--cursor <cursor>', 'where the page before ended')
    .action(list);
  withFilters(audit.command('follow').description('print entries as they come, until Ctrl-C'))
    .option('--after <sequence>', 'begin after this entry instead of with the next')
    .action(follow);
  audit
    .command('export')
    .description('write the whole history with a signed manifest')
    .argument('<workspace>', 'workspace id')
    .addOption(
      new Option('--format <format>', 'of the entries').choices(EXPORT_FORMATS).makeOptionMandatory(),
    )
    .requiredOption('--out <directory>', 'folder to write to; made where it is absent')
    .action(exportTo);
  audit
    .command('verify')
    .description('check an export, offline; says where it was changed, and exits with 1')
    .argument('<directory>', 'folder of the export')
    .option('--public-key <file>', "the operator's public key, to know who signed")
    .action(verify);
  audit
    .command('keygen')
    .description('make a key for AUDIT_SIGNING_KEY')
    .action((_options: object, command: Command) => printRecord(command, createSigningKey()));
  audit
    .command('public-key')
    .description('print the public key that goes to auditors')
    .action(printPublicKey);
};
