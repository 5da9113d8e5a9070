import type { HistoryEntry } from '#contracts/audit/entry.ts';
import type { ExportedPerson, ExportFormat, Manifest } from '#contracts/audit/manifest.ts';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import { findHistoryHead, type HistoryFilter, listHistory } from '#projections/workspace-history/read.ts';
import { listMembers } from '#projections/workspaces/read.ts';
import { filterOf, type HistoryQuery } from './history-query.ts';
import { openPerson } from '../workspaces/members.ts';
import { readSigningKey } from './signing-key.ts';
import { writeExport } from './write-export.ts';

/** Entries read at once by an export and by one who follows. */
const READ_ENTRIES = 500;
/** How soon one who follows sees an entry that the projector has written. */
const FOLLOW_POLL_MS = 250;

/** What reading a history needs. */
export type AuditDependencies = {
  readonly db: ReadDatabase;
  /** `null` without MEMBER_VAULT_KEY: names stay sealed. */
  readonly memberVault: MemberVault | null;
  /** The setting AUDIT_SIGNING_KEY. */
  readonly auditSigningKey: string | null;
};

const requireHead = async (db: ReadDatabase, workspaceId: string): Promise<{ readonly sequence: number }> => {
  const head = await findHistoryHead(db, workspaceId);
  if (!head) throw new Refusal('not_found', 'Workspace not found.');
  return head;
};

export type HistoryPage = { readonly entries: readonly HistoryEntry[]; readonly cursor: string | null };

/** Newest first. The cursor is the number of the last entry of the page; later entries do not move it. */
export const readHistoryPage = async (
  db: ReadDatabase,
  workspaceId: string,
  query: HistoryQuery,
): Promise<HistoryPage> => {
  await requireHead(db, workspaceId);
  const { limit, cursor } = query;
  const found = await listHistory(db, workspaceId, filterOf(query), { limit: limit + 1, before: cursor });
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return { entries, cursor: found.length > limit && last ? String(last.sequence) : null };
};

const entriesAfter = async function* (
  db: ReadDatabase,
  workspaceId: string,
  filter: HistoryFilter,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<HistoryEntry> {
  let reached = after;
  while (!signal.aborted) {
    const found = await listHistory(db, workspaceId, filter, { limit: READ_ENTRIES, after: reached });
    for (const entry of found) {
      yield entry;
      reached = entry.sequence;
    }
    if (found.length < READ_ENTRIES) await pause(FOLLOW_POLL_MS, signal);
  }
};

/** Entries as they come, oldest first, until the signal; those after `after`, or from now on. */
export const followHistory = async (
  db: ReadDatabase,
  workspaceId: string,
  filter: HistoryFilter,
  after: number | undefined,
  signal: AbortSignal,
): Promise<AsyncGenerator<HistoryEntry>> => {
  const head = await requireHead(db, workspaceId);
  return entriesAfter(db, workspaceId, filter, after ?? head.sequence, signal);
};

const entriesUpTo = async function* (
  db: ReadDatabase,
  workspaceId: string,
  last: number,
): AsyncGenerator<HistoryEntry> {
  for (let reached = 0; reached < last; ) {
    const limit = Math.min(READ_ENTRIES, last - reached);
    const found = await listHistory(db, workspaceId, {}, { limit, after: reached });
    // A rebuilt read model that has not come so far: an export of it would be signed as whole.
    if (found.length === 0)
      throw new Error(`the history of ${workspaceId} ends at ${reached}, not at ${last}`);
    yield* found;
    reached = found.at(-1)?.sequence ?? last;
  }
};

const peopleOf = async (
  db: ReadDatabase,
  vault: MemberVault,
  workspaceId: string,
): Promise<readonly ExportedPerson[]> => {
  const members = await listMembers(db, workspaceId);
  return await Promise.all(
    members.map(async (member) => ({
      member_id: member.member_id,
      ...(await openPerson(vault, workspaceId, member)),
    })),
  );
};

/** The whole history up to now, into a folder, signed. */
export const exportHistory = async (
  { db, memberVault, auditSigningKey }: AuditDependencies,
  workspaceId: string,
  format: ExportFormat,
  directory: string,
): Promise<Manifest> => {
  if (auditSigningKey === null) {
    throw new Refusal(
      'invalid_input',
      'Exports are signed: set AUDIT_SIGNING_KEY. `ops audit keygen` makes one.',
    );
  }
  const signingKey = readSigningKey(auditSigningKey);
  const { sequence } = await requireHead(db, workspaceId);
  return await writeExport({
    workspaceId,
    format,
    directory,
    entries: entriesUpTo(db, workspaceId, sequence),
    people: memberVault && (await peopleOf(db, memberVault, workspaceId)),
    signingKey,
    exportedAt: new Date(),
  });
};
