import { randomInt, randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import type { Actor } from '#contracts/events/event.ts';
import {
  apiKeysStream,
  type ApiKeyEvent,
  type Plan,
  type WorkspaceEvent,
  workspaceStream,
} from '#contracts/events/workspace/workspace.ts';
import { KEY_NAME_LENGTH_MAX } from '#contracts/resources/workspace/api-key.ts';
import { type Role, SCOPES, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import { nameText } from '#contracts/values/text.ts';
import {
  apiKeys,
  type ApiKeysState,
  everyApiKey,
  requireApiKey,
  issueApiKey,
  type WorkspaceKey,
  revokeApiKey,
} from '#domain/workspace/api-keys.ts';
import {
  addMember,
  changePlan,
  createWorkspace,
  workspace,
  type WorkspaceState,
} from '#domain/workspace/workspace.ts';
import { createKeyText, lastFourOf, sha256Of } from '#application/access/key-format.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Operator commands on workspaces. Sign-up is not open, so operators create workspaces, members and keys. */

export type OperatorDependencies = {
  readonly eventStore: EventStore;
  readonly workspaceCommands: WorkspaceCommands;
  readonly actor: Actor;
};

const WORKSPACE_NAME_MAX_LENGTH = 100;

/** Applies the API's rule for names: one line, not blank. Throws `invalid_input`. */
export const requireName = (input: string, maxLength: number): string => {
  const read = nameText(maxLength).safeParse(input.trim());
  if (read.success) return read.data;
  throw new Refusal('invalid_input', `A name must be one line of 1 to ${maxLength} characters.`);
};

const ID_LENGTH = 16;
const ID_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

export const createId = (prefix: 'ws' | 'mem' | 'key' | 'col'): string =>
  `${prefix}_${Array.from({ length: ID_LENGTH }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('')}`;

export const now = (): string => new Date().toISOString();

export const runOnWorkspace = (
  dependencies: OperatorDependencies,
  workspaceId: string,
  decision: (state: WorkspaceState) => readonly WorkspaceEvent[],
) =>
  dependencies.workspaceCommands.execute({
    workspaceId,
    stream: workspaceStream(workspaceId),
    decider: workspace,
    decision,
    actor: dependencies.actor,
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    shownIn: ['workspaces'],
  });

const runOnApiKeys = (
  dependencies: OperatorDependencies,
  workspaceId: string,
  decision: (state: ApiKeysState) => readonly ApiKeyEvent[],
) =>
  dependencies.workspaceCommands.execute({
    workspaceId,
    stream: apiKeysStream(workspaceId),
    decider: apiKeys,
    decision,
    actor: dependencies.actor,
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    shownIn: ['api-keys'],
  });

export const createWorkspaceNamed = async (
  dependencies: OperatorDependencies,
  displayName: string,
  plan: Plan,
) => {
  const name = requireName(displayName, WORKSPACE_NAME_MAX_LENGTH);
  const workspace_id = createId('ws');
  await runOnWorkspace(dependencies, workspace_id, createWorkspace({ workspace_id, name, plan, at: now() }));
  return { workspace_id, name, plan };
};

export const setPlan = async (dependencies: OperatorDependencies, workspace_id: string, plan: Plan) => {
  const { events } = await runOnWorkspace(
    dependencies,
    workspace_id,
    changePlan({ workspace_id, plan, at: now() }),
  );
  return { workspace_id, plan, changed: events.length > 0 };
};

export const addMemberNamed = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  name: string,
  role: Role,
) => {
  const member_id = createId('mem');
  await runOnWorkspace(
    dependencies,
    workspace_id,
    addMember({ workspace_id, member_id, name, role, at: now() }),
  );
  return { workspace_id, member_id, name, role };
};

/** Loads the stream, so that it needs no projector. Throws `not_found`. */
export const loadWorkspace = async (
  { eventStore }: Pick<OperatorDependencies, 'eventStore'>,
  workspaceId: string,
): Promise<WorkspaceState> => {
  const { state } = await eventStore.load(workspaceStream(workspaceId), workspace);
  if (state.name === null) throw new Refusal('not_found', 'Workspace not found.');
  return state;
};

export const loadApiKeys = async (
  { eventStore }: Pick<OperatorDependencies, 'eventStore'>,
  workspaceId: string,
): Promise<readonly WorkspaceKey[]> => {
  const { state } = await eventStore.load(apiKeysStream(workspaceId), everyApiKey);
  return [...state].map(([, key]) => key).toSorted((a, b) => a.issued_at.localeCompare(b.issued_at));
};

const roleOf = async (
  dependencies: OperatorDependencies,
  workspaceId: string,
  memberId: string,
): Promise<Role> => {
  const role = (await loadWorkspace(dependencies, workspaceId)).members.get(memberId);
  if (!role) throw new Refusal('not_found', 'Member not found in this workspace.');
  return role;
};

/** `all` grants every scope of the member's role. Only the reply holds the key; the event holds its hash. */
export const issueKey = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  memberId: string,
  keyName: string,
  scopes: readonly Scope[] | 'all',
) => {
  const name = requireName(keyName, KEY_NAME_LENGTH_MAX);
  const grantable = SCOPES_OF_ROLE[await roleOf(dependencies, workspace_id, memberId)];
  const granted = scopes === 'all' ? grantable : scopes;
  const text = createKeyText();
  const key_id = createId('key');
  const decision = issueApiKey({
    workspace_id,
    key_id,
    name,
    sha256: sha256Of(text),
    last_four: lastFourOf(text),
    scopes: SCOPES.filter((scope) => granted.includes(scope)),
    grantable,
    member_id: memberId,
    at: now(),
  });
  await runOnApiKeys(dependencies, workspace_id, decision);
  return { workspace_id, key_id, name, scopes: granted, api_key: text };
};

export const revokeKey = async (dependencies: OperatorDependencies, workspace_id: string, key_id: string) => {
  const revoke = revokeApiKey({ workspace_id, key_id, reason: 'revoked', at: now() });
  // The decision accepts an unknown id, but a mistyped one must fail. Only the events hold long-revoked keys.
  const { state: every } = await dependencies.eventStore.load(apiKeysStream(workspace_id), everyApiKey);
  const known = new Set([...every].map(([id]) => id));
  const { events } = await runOnApiKeys(dependencies, workspace_id, (state) => {
    requireApiKey(state, key_id, known);
    return revoke(state);
  });
  return { workspace_id, key_id, revoked: true, changed: events.length > 0 };
};
