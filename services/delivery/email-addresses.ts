import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { createShortReads } from '#platform/event-store/short-reads.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { findNames } from '#projections/workspaces/read.ts';

const LOG_ANSWER_MS = 2_000;
const UNDEFINED_TABLE = '42P01';

/** Encrypted; `null` when the read model has none. */
const findSealed = async (pool: Database, workspaceId: string, memberId: string): Promise<string | null> => {
  const query = async <Row>({ sql, values }: { sql: string; values: readonly unknown[] }) =>
    (await pool.query(sql, [...values])).rows as readonly Row[];
  try {
    return (await findNames({ query, slow: query }, workspaceId, memberId))?.sealed ?? null;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== UNDEFINED_TABLE) throw error;
    return null;
  }
};

const readSealed = async (
  eventStore: EventStore,
  workspaceId: string,
  memberId: string,
): Promise<string | null> => {
  let sealed: string | null = null;
  for await (const { type, data } of eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
    if (type === 'MemberAdded' && data.member_id === memberId) sealed = data.sealed ?? null;
    if (type === 'MemberErased' && data.member_id === memberId) sealed = null;
  }
  return sealed;
};

/**
 * Decrypts an address with the member's key right before sending; `null` when erased or without an address. An erasure
 * deletes the key before it replies, so an erased member gets no e-mail, however old the read model is. Throws when the
 * read model lacks the member and the log is silent.
 */
export const openEmailAddresses = (eventStore: EventStore, pool: Database, vault: MemberVault) => {
  const log = createShortReads(LOG_ANSWER_MS);
  const readFromLog = async (workspaceId: string, memberId: string): Promise<string | null> => {
    const asked = await log.ask(() => readSealed(eventStore, workspaceId, memberId));
    if (asked !== null) return asked.answer;
    throw new Error('The read model does not have the member, and the log does not answer.');
  };
  return async (workspaceId: string, memberId: string): Promise<string | null> => {
    const sealed =
      (await findSealed(pool, workspaceId, memberId)) ?? (await readFromLog(workspaceId, memberId));
    if (sealed === null) return null;
    return (await vault.open(workspaceId, memberId, sealed))?.email ?? null;
  };
};
