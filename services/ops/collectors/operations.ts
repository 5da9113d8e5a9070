import { Refusal } from '#contracts/errors.ts';
import { OBSERVATION_TYPES, type ObservationType } from '#contracts/observations/index.ts';
import { lastFourOf, sha256Of } from '#application/access/key-format.ts';
import {
  COLLECTOR_KEY,
  type CollectorKey,
  createCollectorTables,
  listCollectorKeys,
  revokeCollectorKey,
  storeCollectorKey,
} from '#application/collectors/collector-keys.ts';
import { countTasks, type TaskCounts } from '#application/collectors/collector-tasks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { createId } from '../workspaces/operations.ts';

type Dependencies = { readonly pool: Database };

/** At least three characters, so that a name is rarely the beginning of another. */
const NAME = /^[a-z0-9][a-z0-9._-]{2,39}$/;

/** Throws `invalid_input` unless every type exists. */
const requireTypes = (types: readonly string[]): readonly ObservationType[] => {
  const unknown = types.filter((type) => !(OBSERVATION_TYPES as readonly string[]).includes(type));
  if (unknown.length === 0 && types.length > 0) return [...new Set(types as readonly ObservationType[])];
  throw new Refusal(
    'invalid_input',
    `Type not found: ${unknown.join(', ') || 'none given'}. Valid types: ${OBSERVATION_TYPES.join(', ')}.`,
  );
};

/** Issues a key; `types: null` grants every type. Only the reply holds the key; the database holds its hash. */
export const issueCollectorKey = async (
  { pool }: Dependencies,
  name: string,
  types: readonly string[] | null,
) => {
  if (!NAME.test(name)) {
    throw new Refusal(
      'invalid_input',
      'A collector name has 3 to 40 characters: lower-case letters, digits, dots, hyphens and underscores. It begins with a letter or digit.',
    );
  }
  const granted = types === null ? null : requireTypes(types);
  const text = COLLECTOR_KEY.create();
  const key_id = createId('col');
  await createCollectorTables(pool);
  await storeCollectorKey(pool, {
    key_id,
    name,
    sha256: sha256Of(text),
    last_four: lastFourOf(text),
    types: granted,
  });
  return { key_id, name, types: granted ?? ['all'], collector_key: text };
};

/** Returns all keys, also revoked ones. */
export const loadCollectorKeys = async ({ pool }: Dependencies): Promise<readonly CollectorKey[]> => {
  await createCollectorTables(pool);
  return await listCollectorKeys(pool);
};

/** Revokes a key: every process rejects the next request with it. */
export const revokeCollector = async ({ pool }: Dependencies, key_id: string) => {
  await createCollectorTables(pool);
  return { key_id, revoked: true, changed: await revokeCollectorKey(pool, key_id) };
};

export const loadTaskCounts = async ({ pool }: Dependencies): Promise<readonly TaskCounts[]> => {
  await createCollectorTables(pool);
  return await countTasks(pool, new Date());
};
