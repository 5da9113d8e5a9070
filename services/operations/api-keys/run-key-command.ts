import { apiKeysStream, type ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import type { ApiKey } from '#contracts/resources/workspace/api-key.ts';
import { apiKeys, type ApiKeysState, keyIdOf, type WorkspaceKey } from '#domain/workspace/api-keys.ts';
import { createKeyText, lastFourOf, sha256Of } from '#application/access/api-key-format.ts';
import { findNames } from '#projections/workspaces/read.ts';
import type { Reply } from '../endpoint/reply.ts';
import type { Call } from '../endpoint/define-endpoint.ts';
import { memberNameOf } from '../dependencies/member-names.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

/** Code shared by the API key commands: running a command, and the reply with a new key. */

type KeyCall = Call<{ readonly ws: string }, unknown, unknown>;

export const runKeyCommand = (call: KeyCall, decision: (state: ApiKeysState) => readonly ApiKeyEvent[]) =>
  call.execute({
    stream: apiKeysStream(call.params.ws),
    decider: apiKeys,
    decision,
    shownIn: ['api-keys'],
    isShared: true,
  });

/**
 * Creates a key that is not recorded yet. Its id is derived from the command id. Its text is random: a text
 * derived from stored values could be computed from them.
 */
const createKey = ({ params, caller, commandId }: KeyCall, dependencies: OperationDependencies) => {
  const text = createKeyText();
  return {
    text,
    input: {
      workspace_id: params.ws,
      key_id: keyIdOf(commandId),
      sha256: sha256Of(text),
      last_four: lastFourOf(text),
      member_id: caller.memberId,
      grantable: [...caller.scopes],
      at: dependencies.clock.now().toISOString(),
    },
  };
};

/** Renders a new key. The rows of the list have `replaces` in another place, so their bytes differ. */
const recordOf = (key: WorkspaceKey, memberName: string | null): ApiKey => ({
  key_id: key.key_id,
  workspace_id: key.workspace_id,
  name: key.name,
  last_four: key.last_four,
  scopes: [...key.scopes],
  status: key.revoked_at === null ? 'active' : 'revoked',
  created_at: key.issued_at,
  created_by: { id: key.member_id, name: memberName },
  replaces: key.replaces ?? null,
  last_used_at: null,
  revoked_at: key.revoked_at,
});

/**
 * Returns the display name of the calling member. `null` when there is none or it cannot be read: a failed read
 * must not lose a key whose text is shown only once.
 */
const readCallerName = async (
  { caller }: KeyCall,
  dependencies: OperationDependencies,
): Promise<string | null> => {
  const { workspaceId, memberId } = caller;
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

/**
 * Runs the command that issues a new key for the calling member. The reply holds its record and its plaintext;
 * no other reply ever shows the plaintext.
 */
export const issueKey = async (
  call: KeyCall,
  dependencies: OperationDependencies,
  decide: (input: ReturnType<typeof createKey>['input']) => (state: ApiKeysState) => readonly ApiKeyEvent[],
): Promise<Reply> => {
  const { text, input } = createKey(call, dependencies);
  // The name is read while the event is appended: creating a key does not change it.
  const [{ state, position }, name] = await Promise.all([
    runKeyCommand(call, decide(input)),
    readCallerName(call, dependencies),
  ]);
  const key = state.keys.get(input.key_id);
  if (!key) throw new Error('issued API key is missing from the state');
  return { data: JSON.stringify({ ...recordOf(key, name), api_key: text }), asOf: null, position };
};
