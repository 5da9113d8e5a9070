import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import type { Role } from '#contracts/values/roles.ts';
import { addMemberNamed, issueKey } from '#services/ops/workspaces/operations.ts';
import { on, type Reply } from '#tests/dsl/api.ts';
import type { ApiStack, Key } from './stack.ts';

/** How tests work with collections, saved items and notes through an API server. */

export type Board = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly parent_id: string | null;
  readonly visibility: string;
  readonly created_by: string;
  readonly editors: readonly string[];
  readonly items: readonly { readonly item_type: string; readonly item_key: string }[];
  readonly item_count: number;
  readonly created_at: string;
  readonly updated_at: string;
};

export const collectionsOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/collections`;
export const savedOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/saved`;
export const notesOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/notes`;

export const AD = { item_type: 'ad', item_key: '1203847561029384' } as const;
export const OTHER_AD = { item_type: 'ad', item_key: '998877665544' } as const;

/** Another member of a key's workspace, with a key of their own. */
export const colleague = async (stack: ApiStack, of: Key, role: Role = 'editor'): Promise<Key> => {
  const room = { ...stack, actor: { kind: 'service', id: 'tests' } } as const;
  const { workspaceId } = of;
  const { member_id: memberId } = await addMemberNamed(room, workspaceId, 'Bea', role);
  const { key_id: keyId, api_key: text } = await issueKey(room, workspaceId, memberId, randomUUID(), 'all');
  return { workspaceId, memberId, keyId, text };
};

export const boardsThrough = (app: FastifyInstance) => ({
  create: (key: Key, body: object) => on(app).post(collectionsOf(key), { key, body }),
  created: async (key: Key, body: object): Promise<Board> => {
    const { status, data, error } = await on(app).post(collectionsOf(key), { key, body });
    if (status !== 201) throw new Error(JSON.stringify(error));
    return data;
  },
  change: (key: Key, id: string, body: unknown) =>
    on(app).patch(`${collectionsOf(key)}/${id}`, { key, body }),
  delete: (key: Key, id: string, body: unknown = {}) =>
    on(app).delete(`${collectionsOf(key)}/${id}`, { key, body }),
  add: (key: Key, id: string, item: object) =>
    on(app).post(`${collectionsOf(key)}/${id}/items`, { key, body: item }),
  remove: (key: Key, id: string, type: string, itemKey: string, body: unknown = {}) =>
    on(app).delete(`${collectionsOf(key)}/${id}/items/${type}/${itemKey}`, { key, body }),
  list: async (key: Key): Promise<readonly Board[]> => everyPage(app, key, collectionsOf(key)),
});

/** A list from its first page to its last. */
export const everyPage = async <T>(
  app: FastifyInstance,
  key: Key,
  url: string,
  limit = 100,
): Promise<readonly T[]> => {
  const items: T[] = [];
  let cursor = '';
  do {
    const joint = url.includes('?') ? '&' : '?';
    const reply: Reply = await on(app).get(`${url}${joint}limit=${limit}${cursor}`, { key });
    items.push(...(reply.data as T[]));
    cursor = reply.meta.cursor === undefined ? '' : `&cursor=${reply.meta.cursor}`;
  } while (cursor !== '');
  return items;
};

/** What was recorded of a workspace's tree of collections. */
export const treeFactsOf = async (stack: ApiStack, key: Key): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read(collectionTreeStream(key.workspaceId))) types.push(type);
  return types;
};

/** A server where others change everything for longer than anybody should wait. */
export const crowded = (stack: ApiStack): Promise<FastifyInstance> => {
  const decide = (): Promise<never> => Promise.reject(new Refusal('changed_meanwhile', 'Try again.'));
  return stack.api({ eventStore: { ...stack.eventStore, decide } });
};
