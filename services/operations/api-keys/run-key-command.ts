import { apiKeysStream, type ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { apiKeys, type ApiKeysState, keyIdOf } from '#domain/workspace/api-keys.ts';
import { readKnownKeys } from '#application/access/access-tables.ts';
import { createKeyText, lastFourOf, sha256Of } from '#application/access/api-key-format.ts';
import type { Reply } from '../endpoint/reply.ts';
import type { Call } from '../endpoint/define-endpoint.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { writtenKeyText } from './key-text.ts';

type KeyCall = Call<{ readonly ws: string }, unknown, unknown>;

export const runKeyCommand = (call: KeyCall, decision: (state: ApiKeysState) => readonly ApiKeyEvent[]) =>
  call.execute({
    stream: apiKeysStream(call.params.ws),
    decider: apiKeys,
    decision,
    shownIn: ['api-keys'],
    isShared: true,
  });

/** The id follows from the command id. The text is random: one derived from stored values could be recomputed. */
const createKey = async (
  { params, caller, commandId, mayRepeat }: KeyCall,
  dependencies: OperationDependencies,
  rotatedKeyId: string | null,
) => {
  const text = createKeyText();
  const key_id = keyIdOf(commandId);
  // Only an earlier attempt can have created the key.
  const keyIds = [...(mayRepeat ? [key_id] : []), ...(rotatedKeyId === null ? [] : [rotatedKeyId])];
  const known_keys = await readKnownKeys(dependencies.pool, params.ws, keyIds);
  return {
    text,
    input: {
      workspace_id: params.ws,
      key_id,
      sha256: sha256Of(text),
      last_four: lastFourOf(text),
      member_id: caller.memberId,
      grantable: [...caller.scopes],
      known_keys,
      at: dependencies.clock.now().toISOString(),
    },
  };
};

/** Only this reply holds the plaintext. `rotatedKeyId`: the key that it replaces; `null` for none. */
export const issueKey = async (
  call: KeyCall,
  dependencies: OperationDependencies,
  rotatedKeyId: string | null,
  decide: (
    input: Awaited<ReturnType<typeof createKey>>['input'],
  ) => (state: ApiKeysState) => readonly ApiKeyEvent[],
): Promise<Reply> => {
  const { text, input } = await createKey(call, dependencies, rotatedKeyId);
  const { state, position, isShown } = await runKeyCommand(call, decide(input));
  const key = state.keys.get(input.key_id);
  if (!key) throw new Error('issued API key is missing from the state');
  const record = await writtenKeyText(dependencies, { key, isShown });
  const data = appendFields(record, { api_key: JSON.stringify(text) });
  return { data, asOf: null, position, shownOnce: { keyId: input.key_id } };
};
