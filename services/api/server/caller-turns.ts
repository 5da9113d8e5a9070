import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { markOf } from '#application/access/refused-requests.ts';
import { createFairTurns } from '#platform/concurrency/fair-turns.ts';
import { bearerOf } from '#platform/http/bearer-token.ts';
import { networkOf } from '#platform/http/network-of.ts';

/** Maximum keys whose workspace is remembered. The least recently used is forgotten first. */
const KEYS_MAX = 10_000;

/**
 * Starts the requests of callers in turn, before keys are checked. All keys of a workspace share its turns. A key that is
 * not known shares those of its network, so that neither invented keys nor spellings of a header get turns of their own.
 */
export type CallerTurns = {
  /** Returns at once, or a promise of the caller's turn. */
  enter(headers: IncomingHttpHeaders, address: string): void | Promise<void>;
  /** Remembers the workspace of a key, or with `null` that the key is refused. */
  learn(keyText: string, workspaceId: string | null): void;
};

export const createCallerTurns = (): CallerTurns => {
  const turns = createFairTurns();
  const workspaces = new LRUCache<string, string>({ max: KEYS_MAX });
  return {
    enter: (headers, address) => {
      const key = bearerOf(headers);
      const workspaceId = key === undefined ? undefined : workspaces.get(markOf(key));
      return turns.enter(workspaceId ?? networkOf(address));
    },
    learn: (keyText, workspaceId) => {
      if (workspaceId === null) workspaces.delete(markOf(keyText));
      else workspaces.set(markOf(keyText), workspaceId);
    },
  };
};
