import type { HistoryEntry } from '#contracts/audit/entry.ts';
import type { ExportedPerson, ExportFormat, Manifest } from '#contracts/audit/manifest.ts';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import { findHistoryHead, type HistoryFilter, listHistory } from '#projections/workspace-history/read.ts';
import { listMembers } from '#projections/workspaces/read.ts';
import { filterOf, type HistoryQuery } from './history-query.ts';
import { decryptPerson } from '../workspaces/members.ts';
import { readSigningKey } from './signing-key.ts';
import { writeExport } from './write-export.ts';

const READ_ENTRIES = 500;
const FOLLOW_POLL_MS = 250;

export type AuditDependencies = {
  readonly db: ReadDatabase;
  /** `null` without MEMBER_VAULT_KEY: exports then contain no names. */
  readonly memberVault: MemberVault | null;
  readonly auditSigningKey: string | null;
};

const requireHead = async (db: ReadDatabase, workspaceId: string): Promise<{ readonly sequence: number }> => {
  const head = await findHistoryHead(db, workspaceId);
  if (!head) throw new Refusal('not_found', 'Workspace not found.');
  return head;
};

export type HistoryPage = { readonly entries: readonly HistoryEntry[]; readonly cursor: string | null };

/** Returns one page, newest first. The cursor is a sequence number, so new entries do not shift pages. */
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

/** Yields entries, oldest first, until the signal aborts. Throws `not_found` without a history. */
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
    // A rebuilt read model may still lag behind. Without this check, a partial export would be signed as complete.
    if (found.length === 0)
      throw new Error(`the history of ${workspaceId} ends at entry ${reached}, expected ${last}`);
    yield* found;
    reached = found.at(-1)?.sequence ?? last;
  }
};

const readPeople = async (
  db: ReadDatabase,
  vault: MemberVault,
  workspaceId: string,
): Promise<readonly ExportedPerson[]> => {
  const members = await listMembers(db, workspaceId);
  return await Promise.all(
    members.map(async (member) => ({
      member_id: member.member_id,
      ...(await decryptPerson(vault, workspaceId, member)),
    })),
  );
};

/** Writes the history and a signed manifest. Throws `invalid_input` without a key, `not_found` without a history. */
export const exportHistory = async (
  { db, memberVault, auditSigningKey }: AuditDependencies,
  workspaceId: string,
  format: ExportFormat,
  directory: string,
): Promise<Manifest> => {
  if (auditSigningKey === null) {
    throw new Refusal(
      'invalid_input',
      'AUDIT_SIGNING_KEY is not set, and exports must be signed. Run `ops audit keygen` to create a key.',
    );
  }
  const signingKey = readSigningKey(auditSigningKey);
  const { sequence } = await requireHead(db, workspaceId);
  return await writeExport({
    workspaceId,
    format,
    directory,
    entries: entriesUpTo(db, workspaceId, sequence),
    people: memberVault && (await readPeople(db, memberVault, workspaceId)),
    signingKey,
    exportedAt: new Date(),
  });
};
