import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

/** A key acts on its own workspace. Of any other it learns nothing, not even that it exists: 404, never 403. */
export const authorizeWorkspace = (context: RequestContext): void => {
  const { ws } = context.request.params as { ws?: string };
  if (ws !== undefined && ws !== callerOf(context).workspaceId) {
    throw new Refusal('not_found', 'There is no such workspace for this key. `GET /v1/me` names yours.');
  }
};
