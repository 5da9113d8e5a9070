import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { Actor, Event } from '#contracts/events/event.ts';
import {
  type ApiKeyEvent,
  type Plan,
  type WorkspaceEvent,
  apiKeysStream,
  workspaceStream,
} from '#contracts/events/workspace/workspace.ts';
import { type BrandRequestEvent, brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import { REFUSAL_REASON_MAX_LENGTH } from '#contracts/resources/workspace/brand-request.ts';
import { KEY_NAME_LENGTH_MAX } from '#contracts/resources/workspace/api-key.ts';
import { type Role, SCOPES, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import { nameText } from '#contracts/values/text.ts';
import type { Decider } from '#domain/decider.ts';
import {
  type BrandRequestState,
  type BrandRequestsState,
  acceptBrandRequest,
  brandRequests,
  refuseBrandRequest,
} from '#domain/workspace/brand-requests.ts';
import {
  type ApiKeysState,
  type WorkspaceKey,
  apiKeys,
  everyApiKey,
  issueApiKey,
  requireApiKey,
  revokeApiKey,
} from '#domain/workspace/api-keys.ts';
import {
  type WorkspaceState,
  addMember,
  changePlan,
  createWorkspace,
  eraseMember,
  workspace,
} from '#domain/workspace/workspace.ts';
import { type KeyFormat, LIVE_KEY, lastFourOf, sha256Of } from '#application/access/key-format.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import {
  type ConnectedApp,
  type ConnectionEvent,
  connectionStream,
} from '#contracts/events/workspace/connection.ts';
import { type ConnectionState, connection, disconnectApp } from '#domain/workspace/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { issueInvitation } from '#application/sign-in/invitations.ts';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import type { MemberVault, Person } from '#application/vault/member-vault.ts';
import { systemClock } from '#platform/clock.ts';
import { OBSERVATION_TYPES, type ObservationType } from '#contracts/observations/index.ts';
import {
  COLLECTOR_KEY,
  type CollectorKey,
  type TaskCounts,
  countTasks,
  createCollectorTables,
  listCollectorKeys,
  revokeCollectorKey,
  storeCollectorKey,
} from '#application/collectors/collector-keys.ts';

/** Operator commands on workspaces. Sign-up is not open, so operators create workspaces, members and keys. */

export type OperatorDependencies = {
  readonly eventStore: EventStore;
  readonly workspaceCommands: WorkspaceCommands;
  readonly actor: Actor;
  /** That of customers when absent. */
  readonly keyFormat?: KeyFormat;
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

const asOperator = ({ actor }: Pick<OperatorDependencies, 'actor'>) => ({
  actor,
  requestId: randomUUID(),
  commandId: randomUUID(),
  mayRepeat: false,
});

export const runAsOperator = <State, E extends Event>(
  dependencies: OperatorDependencies,
  workspaceId: string,
  stream: string,
  decider: Decider<State, E>,
  shownIn: readonly string[],
  decision: (state: State) => readonly E[],
) =>
  dependencies.workspaceCommands.execute({
    workspaceId,
    stream,
    decider,
    decision,
    ...asOperator(dependencies),
    shownIn,
  });

export const runOnWorkspace = (
  dependencies: OperatorDependencies,
  workspaceId: string,
  decision: (state: WorkspaceState) => readonly WorkspaceEvent[],
) => {
  const stream = workspaceStream(workspaceId);
  return runAsOperator(dependencies, workspaceId, stream, workspace, ['workspaces'], decision);
};

const runOnApiKeys = (
  dependencies: OperatorDependencies,
  workspaceId: string,
  decision: (state: ApiKeysState) => readonly ApiKeyEvent[],
) => {
  const stream = apiKeysStream(workspaceId);
  return runAsOperator(dependencies, workspaceId, stream, apiKeys, ['api-keys'], decision);
};

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
  const text = (dependencies.keyFormat ?? LIVE_KEY).create();
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

const decideOnRequest = async (
  { workspaceCommands, actor }: OperatorDependencies,
  workspace_id: string,
  request_id: string,
  decision: (state: BrandRequestsState) => readonly BrandRequestEvent[],
) => {
  const { state, events } = await workspaceCommands.execute({
    workspaceId: workspace_id,
    stream: brandRequestsStream(workspace_id),
    decider: brandRequests,
    decision,
    ...asOperator({ actor }),
    shownIn: ['brand-requests'],
  });
  const { domain, status, reason } = state.requests.get(request_id) as BrandRequestState;
  return { workspace_id, request_id, domain, status, reason, changed: events.length > 0 };
};

/** Collectors are asked within a minute, by the worker. Throws `not_found`. */
export const acceptRequest = (dependencies: OperatorDependencies, workspace_id: string, request_id: string) =>
  decideOnRequest(
    dependencies,
    workspace_id,
    request_id,
    acceptBrandRequest({ workspace_id, request_id, at: now() }),
  );

/** Throws `not_found`, and `changed_meanwhile` when the request is ready. */
export const refuseRequest = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  request_id: string,
  text: string,
) => {
  const reason = requireName(text, REFUSAL_REASON_MAX_LENGTH);
  const decision = refuseBrandRequest({ workspace_id, request_id, reason, at: now() });
  return decideOnRequest(dependencies, workspace_id, request_id, decision);
};

export const LISTED_MAX = 10_000;

type Row = {
  readonly connection_id: string;
  readonly member_id: string;
  readonly app: ConnectedApp;
  readonly scopes: readonly Scope[];
  readonly allowed_at: string;
  readonly connected: boolean;
};

export const listConnections = async ({ pool }: { readonly pool: Database }, workspaceId: string) => {
  const { rows } = await pool.query<Row>(
    `select connection_id, member_id, app, scopes, allowed_at, connected from access.connection
     where workspace_id = $1 and not ended and expires_at > now()
     order by allowed_at desc, connection_id limit ${LISTED_MAX}`,
    [workspaceId],
  );
  return rows.map(({ app, scopes, ...row }) => ({
    ...row,
    app: app.name,
    identified_by: app.identified_by,
    redirect_host: app.redirect_host,
    scopes: scopes.join(' '),
  }));
};

const execute = (
  { workspaceCommands, actor }: OperatorDependencies,
  { workspace_id, connection_id }: { readonly workspace_id: string; readonly connection_id: string },
  decision: (state: ConnectionState) => readonly ConnectionEvent[],
) =>
  workspaceCommands.execute({
    workspaceId: workspace_id,
    stream: connectionStream(workspace_id, connection_id),
    decider: connection,
    decision,
    ...asOperator({ actor }),
    shownIn: [],
  });

export const endConnectionsOfErased = async (
  dependencies: OperatorDependencies & { readonly pool: Database },
  workspace_id: string,
  member_id: string,
): Promise<number> => {
  const { rows } = await dependencies.pool.query<{ readonly connection_id: string }>(
    `select connection_id from access.connection where workspace_id = $1 and member_id = $2 and not ended
     order by connection_id`,
    [workspace_id, member_id],
  );
  for (const { connection_id } of rows) {
    const ended = { workspace_id, connection_id, reason: 'member_erased', at: now() } as const;
    await execute(dependencies, ended, disconnectApp(ended));
  }
  return rows.length;
};

/** When it returns, no process accepts the connection's tokens. Throws `not_found`. */
export const endConnection = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  connection_id: string,
) => {
  const end = disconnectApp({ workspace_id, connection_id, reason: 'operator', at: now() });
  const { events } = await execute(dependencies, { workspace_id, connection_id }, (state) => {
    // The decision accepts an unknown id, but an operator who mistypes one must get an error.
    if (state.status === 'none') throw new Refusal('not_found', 'Connection not found in this workspace.');
    return end(state);
  });
  return { workspace_id, connection_id, ended: true, changed: events.length > 0 };
};

export type MemberDependencies = OperatorDependencies & { readonly memberVault: MemberVault | null };

const NAME_MAX_LENGTH = 200;
/** Maximum characters of an e-mail address (RFC 5321). */
const EMAIL_MAX_LENGTH = 254;
const Email = z.email().max(EMAIL_MAX_LENGTH);

const requirePerson = ({ name, email }: Person): Person => {
  if (email !== null && !Email.safeParse(email).success) {
    throw new Refusal('invalid_input', `${email} is not a valid e-mail address.`);
  }
  return { name: requireName(name, NAME_MAX_LENGTH), email };
};

/** Stores the key first: events can be decrypted. Without a vault the name is in plain text, an address rejected. */
export const addPerson = async (
  dependencies: MemberDependencies,
  workspace_id: string,
  input: Person,
  role: Role,
) => {
  const person = requirePerson(input);
  const vault = dependencies.memberVault;
  if (!vault && person.email !== null) {
    throw new Refusal(
      'invalid_input',
      'E-mail addresses are stored encrypted only. Set MEMBER_VAULT_KEY to base64 of 32 bytes.',
    );
  }
  // Checked before the vault creates a key, so an unknown workspace leaves no unused key behind.
  await loadWorkspace(dependencies, workspace_id);
  const member_id = createId('mem');
  const shown = vault
    ? { name: '', sealed: await vault.seal(workspace_id, member_id, person) }
    : { name: person.name };
  await runOnWorkspace(
    dependencies,
    workspace_id,
    addMember({ workspace_id, member_id, ...shown, role, at: now() }),
  );
  return { workspace_id, member_id, name: person.name, email: person.email, role };
};

/** True when the member was added without a vault. Their name then cannot be erased. */
const isNamedInLog = async (
  dependencies: OperatorDependencies,
  workspaceId: string,
  memberId: string,
): Promise<boolean> => {
  for await (const event of dependencies.eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
    if (event.type === 'MemberAdded' && event.data.member_id === memberId) return event.data.name !== '';
  }
  return false;
};

/** Erases a member and ends their access. Idempotent: a repetition completes interrupted steps. */
export const erasePerson = async (
  dependencies: MemberDependencies & { readonly pool: Database },
  workspace_id: string,
  member_id: string,
) => {
  const vault = dependencies.memberVault;
  if (!vault)
    throw new Refusal('invalid_input', 'Erasing a member requires the vault. Set MEMBER_VAULT_KEY.');
  const { events } = await runOnWorkspace(
    dependencies,
    workspace_id,
    eraseMember({ workspace_id, member_id, at: now() }),
  );
  await vault.erase(workspace_id, member_id);
  const keys = (await loadApiKeys(dependencies, workspace_id)).filter(
    (key) => key.member_id === member_id && key.revoked_at === null,
  );
  for (const { key_id } of keys) await revokeKey(dependencies, workspace_id, key_id);
  const ended = await endConnectionsOfErased(dependencies, workspace_id, member_id);
  return {
    workspace_id,
    member_id,
    erased: true,
    changed: events.length > 0,
    keys_revoked: keys.length,
    connections_ended: ended,
    name_in_log: await isNamedInLog(dependencies, workspace_id, member_id),
  };
};

/** Part of Node's error when another key was used. */
const NOT_OPENED = 'unable to authenticate data';

/** Both fields are `null` without a vault or key. Throws `invalid_input` for the wrong MEMBER_VAULT_KEY. */
export const decryptPerson = async (
  vault: MemberVault | null,
  workspaceId: string,
  member: { readonly member_id: string; readonly name: string; readonly sealed: string | null },
): Promise<{ readonly name: string | null; readonly email: string | null }> => {
  if (member.sealed === null) return { name: member.name, email: null };
  try {
    return (await vault?.open(workspaceId, member.member_id, member.sealed)) ?? { name: null, email: null };
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.includes(NOT_OPENED)) throw cause;
    const refusal = new Refusal(
      'invalid_input',
      'MEMBER_VAULT_KEY is not the key that encrypted this member. Set the key that was in use then.',
    );
    throw Object.assign(refusal, { cause });
  }
};

/** Creates a link that works once, for a day; no event holds it. Throws `not_found` for an unknown member. */
export const invitePerson = async (
  dependencies: OperatorDependencies & { readonly pool: Database; readonly mcpBaseUrl: string },
  workspaceId: string,
  memberId: string,
) => {
  await createBrowserSignInTables(dependencies.pool);
  const { invitationId, token, expiresAt } = await issueInvitation(
    { ...dependencies, clock: systemClock },
    { workspaceId, memberId },
    dependencies.actor,
  );
  return {
    workspace_id: workspaceId,
    member_id: memberId,
    invitation_id: invitationId,
    link: `${dependencies.mcpBaseUrl}/signin/invitation/${token}`,
    expires_at: expiresAt,
  };
};

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
