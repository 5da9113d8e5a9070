import { z } from 'zod';
import {
  GENESIS_HASH,
  type HistoryEntry,
  WORKSPACE_CATEGORIES,
  canonicalRecordText,
  chainHash,
} from '#contracts/audit/entry.ts';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportedPerson,
  type Manifest,
} from '#contracts/audit/manifest.ts';
import { type Names, erasedName, sentenceOf } from '#contracts/audit/sentence.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { readKeyNames } from '#projections/queries/api-keys.ts';
import {
  type HistoryFilter,
  findHistoryHead,
  listErasedMembers,
  listHistory,
} from '#projections/workspace-history/read.ts';
import { Refusal } from '#contracts/errors.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import { listMembers } from '#projections/workspaces/read.ts';
import { Moment } from '../validate-query.ts';
import { decryptPerson } from '../workspaces.ts';
import { readSigningKey } from '#application/audit/signing-key.ts';
import { writeExport } from './write-export.ts';

export const PAGE_MAX = 200;
const PAGE_DEFAULT = 50;
const TEXT_MAX_LENGTH = 200;

const Sequence = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the sequence number of an entry')
  .transform(Number);
const IsoMoment = Moment.transform((at) => at.toISOString());
const isCategory = (name: string): boolean => (WORKSPACE_CATEGORIES as readonly string[]).includes(name);

const filterShape = {
  type: z.string().min(1).max(TEXT_MAX_LENGTH).optional(),
  actor: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .regex(
      /^(api_key|connection|member|service):./,
      'must be kind and id, such as member:mem_…; kinds are api_key, connection, member and service',
    )
    .optional(),
  since: IsoMoment.optional(),
  until: IsoMoment.optional(),
  resource: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .refine(
      (text) => isCategory(text.split(':', 1)[0] ?? ''),
      `must be a category, or category:id; categories are ${WORKSPACE_CATEGORIES.join(', ')}`,
    )
    .optional(),
} as const;

export const HistoryQuery = z.strictObject({
  ...filterShape,
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: Sequence.optional(),
});
export type HistoryQuery = z.infer<typeof HistoryQuery>;

/** Parameters of a followed history: entries after the sequence number `after`, or only new ones. */
export const FollowQuery = z.strictObject({ ...filterShape, after: Sequence.optional() });
export const ExportQuery = z.strictObject({ format: z.enum(EXPORT_FORMATS) });

export const filterOf = (query: z.infer<typeof FollowQuery> | HistoryQuery): HistoryFilter => {
  const { type, actor, since, until, resource } = query;
  const [category, ...id] = resource?.split(':') ?? [];
  return { type, actor, since, until, category, resourceId: id.length > 0 ? id.join(':') : undefined };
};

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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Texts that can be ids of members, keys and brands. */
const idsIn = (entries: readonly HistoryEntry[]): readonly string[] => {
  const named = entries.flatMap(({ actor, data }) => {
    const fields = Object.values(data as Readonly<Record<string, unknown>>);
    return [actor.id, ...fields, ...((data as { editors?: readonly string[] }).editors ?? [])];
  });
  return [...new Set(named)].filter((one) => typeof one === 'string');
};

/** Names for the sentences of entries; without a vault, members have no names. */
export const readNames = async (
  { db, memberVault }: Pick<AuditDependencies, 'db' | 'memberVault'>,
  workspaceId: string,
  entries: readonly HistoryEntry[],
): Promise<Names> => {
  const ids = idsIn(entries);
  const [members, keys, brands] = await Promise.all([
    listMembers(db, workspaceId),
    readKeyNames(db, workspaceId, ids),
    readBrandSummaries(
      db,
      ids.filter((id) => UUID.test(id)),
    ),
  ]);
  const names = new Map<string, string>();
  for (const [id, name] of keys) names.set(id, `“${name}”`);
  for (const [id, { reference }] of brands) {
    const { name } = JSON.parse(reference.replaceAll(BASE_URL_MARK, '')) as { readonly name: string };
    names.set(id, name);
  }
  for (const member of members.filter(({ member_id }) => ids.includes(member_id))) {
    const { name } = await decryptPerson(memberVault, workspaceId, member);
    if (name !== null) names.set(member.member_id, name);
  }
  const unnamed = ids.filter((id) => id.startsWith('mem_') && !names.has(id));
  for (const id of await listErasedMembers(db, workspaceId, unnamed)) names.set(id, erasedName(id));
  return names;
};

/** An entry, and what it says to a person; its hash does not cover the sentence. */
export type ToldEntry = HistoryEntry & { readonly sentence: string };

export type HistoryPage = { readonly entries: readonly ToldEntry[]; readonly cursor: string | null };

/** Returns one page, newest first. The cursor is a sequence number, so new entries do not shift pages. */
export const readHistoryPage = async (
  dependencies: Pick<AuditDependencies, 'db' | 'memberVault'>,
  workspaceId: string,
  query: HistoryQuery,
): Promise<HistoryPage> => {
  const { db } = dependencies;
  await requireHead(db, workspaceId);
  const { limit, cursor } = query;
  const found = await listHistory(db, workspaceId, filterOf(query), { limit: limit + 1, before: cursor });
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const names = await readNames(dependencies, workspaceId, entries);
  const told = entries.map((entry) => ({ ...entry, sentence: sentenceOf(entry, names) }));
  return { entries: told, cursor: found.length > limit && last ? String(last.sequence) : null };
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
    readNames: (told) => readNames({ db, memberVault }, workspaceId, told),
    signingKey,
    exportedAt: new Date(),
  });
};

export type ChainStatus = {
  readonly entries: number;
  readonly head_hash: string;
  readonly last_recorded_at: string;
  readonly intact: boolean;
  /** Sequence of the first entry that does not match; `null` when all match. */
  readonly broken_at: number | null;
};

/** Verifies the hash chain from the first entry to the first mismatch. Throws `not_found` without a history. */
export const checkChain = async (
  db: ReadDatabase,
  workspaceId: string,
  signal: AbortSignal,
): Promise<ChainStatus> => {
  let hash = GENESIS_HASH;
  let sequence = 0;
  let recordedAt: string | null = null;
  const status = (brokenAt: number | null): ChainStatus => {
    if (recordedAt === null) throw new Refusal('not_found', 'Workspace not found.');
    const intact = brokenAt === null;
    return { entries: sequence, head_hash: hash, last_recorded_at: recordedAt, intact, broken_at: brokenAt };
  };
  for (;;) {
    signal.throwIfAborted();
    const entries = await listHistory(db, workspaceId, {}, { limit: READ_ENTRIES, after: sequence });
    for (const entry of entries) {
      recordedAt = entry.recorded_at;
      const expected = sequence + 1;
      if (entry.sequence !== expected) return status(expected);
      if (chainHash(hash, expected, canonicalRecordText(entry)) !== entry.hash) return status(expected);
      ({ sequence, hash } = entry);
    }
    if (entries.length < READ_ENTRIES) return status(null);
  }
};
