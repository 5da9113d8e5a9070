import { Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Endpoint } from './define-endpoint.ts';

/**
 * Throws 404 and not 403 for another workspace: no caller learns which exist. `undefined`: the endpoint has no
 * workspace.
 */
export const requireWorkspace = (workspaceId: unknown, caller: Caller): void => {
  if (workspaceId !== undefined && workspaceId !== caller.workspaceId) {
    throw new Refusal(
      'not_found',
      'Workspace not found for this key. `GET /v1/me` returns the workspace of the key.',
    );
  }
};

/** Throws `Refusal`. The role of the member limits the scopes of a key. */
export const requireScope = ({ scope }: Endpoint, caller: Caller): void => {
  if (!caller.scopes.has(scope)) {
    throw new Refusal('scope_missing', `This endpoint requires a key with the scope ${scope}.`);
  }
};
