import type { ActiveKey } from '#domain/workspace/api-keys.ts';
import { issuedText } from '#projections/api-keys/project.ts';
import { type ApiKeyRow, apiKeyText, findApiKey } from '#projections/queries/api-keys.ts';
import { findNames } from '#projections/workspaces/read.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { memberNameOf } from '../dependencies/member-names.ts';
import { writtenText } from '../endpoint/written-text.ts';

type NameDependencies = Pick<OperationDependencies, 'memberVault' | 'log'>;

const creatorNameOf = async (
  dependencies: NameDependencies,
  workspaceId: string,
  { member_id: memberId, name, sealed }: ApiKeyRow,
): Promise<string | null> =>
  name === null ? null : memberNameOf(dependencies, { workspaceId, memberId, name, sealed });

export const keyTexts = async (
  dependencies: NameDependencies,
  workspaceId: string,
  rows: readonly ApiKeyRow[],
): Promise<readonly string[]> => {
  const names = new Map<string, string | null>();
  for (const row of rows) {
    if (names.has(row.member_id)) continue;
    names.set(row.member_id, await creatorNameOf(dependencies, workspaceId, row));
  }
  return rows.map((row) => apiKeyText(row, names.get(row.member_id) ?? null));
};

type TextDependencies = NameDependencies & Pick<OperationDependencies, 'db'>;

/** `null` also after a failed read: it must not lose a key whose text is shown only once. */
const readCreatorName = async (dependencies: TextDependencies, key: ActiveKey): Promise<string | null> => {
  const { workspace_id: workspaceId, member_id: memberId } = key;
  try {
    const names = await findNames(dependencies.db, workspaceId, memberId);
    return names && (await memberNameOf(dependencies, { workspaceId, memberId, ...names }));
  } catch (error) {
    dependencies.log.warn(
      { err: error, member_id: memberId },
      'member name not readable; replied without it',
    );
    return null;
  }
};

export const writtenKeyText = (
  dependencies: TextDependencies,
  { key, isShown }: { readonly key: ActiveKey; readonly isShown: boolean },
): Promise<string> =>
  writtenText(
    { isShown, log: dependencies.log },
    async () => {
      const row = await findApiKey(dependencies.db, key.workspace_id, key.key_id);
      return row && apiKeyText(row, await creatorNameOf(dependencies, key.workspace_id, row));
    },
    async () => {
      const { issued_at, member_id } = key;
      const row = { issued: issuedText(key), issued_at, revoked_at: null, member_id, last_used_at: null };
      return apiKeyText(row, await readCreatorName(dependencies, key));
    },
  );
