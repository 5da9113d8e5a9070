import fc from 'fast-check';
import type { Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { alertRule } from '#domain/workspace/alert/rule-decider.ts';
import { apiKeys } from '#domain/workspace/api-keys.ts';
import { brief } from '#domain/workspace/brief.ts';
import { collectionTree } from '#domain/workspace/collection/decider.ts';
import { collectionItems } from '#domain/workspace/collection/items.ts';
import { note } from '#domain/workspace/note.ts';
import { saved } from '#domain/workspace/saved-items.ts';
import { signInDecider } from '#domain/workspace/sign-in.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import { webhookSecret } from '#domain/workspace/webhook-secret.ts';
import { workspace } from '#domain/workspace/workspace.ts';

/** Fixed numbers give a fixed history. */

const ID_COUNT = 90;
const DAY_MS = 86_400_000;

type Draw = readonly [kind: number, id: number, value: number];
type History = {
  readonly decider: Decider<unknown, Event>;
  readonly events: readonly ((id: number, value: number) => Event)[];
};

const at = (value: number): string => new Date(value * (DAY_MS / 8)).toISOString();
const workspace_id = 'ws_1';
const event = (type: string, data: object): Event => ({ type, data: { workspace_id, ...data } });
const history = <State, E extends Event>(
  decider: Decider<State, E>,
  ...events: History['events']
): History => ({ decider: decider as unknown as Decider<unknown, Event>, events });

const ROLES = ['viewer', 'editor', 'admin', 'owner'] as const;
const member = (id: number): string => `member ${id % 7}`;
const item = (id: number) => ({ item_type: 'brand', item_key: `${1_000 + id}` });
const changed = (id: number, value: number) => ({
  collection_id: `c${id}`,
  changed_by: member(value),
  changed_at: at(value),
});
const suspension = (value: number) => ({
  channel: value % 2 === 0 ? 'webhook' : 'chat',
  failing_since: at(value),
  suspended_at: at(value + 1),
});
const FIRST_ITEM = { first_item: item(0), created_by: 'member 0', created_at: at(0) } as never;

export const HISTORIES: Readonly<Record<string, History>> = {
  apiKeys: history(
    apiKeys,
    (id, value) =>
      event('ApiKeyIssued', {
        key_id: `${id}`,
        name: `key ${value}`,
        sha256: `${value}`,
        scopes: ['me:read'],
        member_id: member(value),
        issued_at: at(value),
        ...(value % 3 === 0 ? { replaces: `${id + 1}` } : {}),
      }),
    (id, value) => event('ApiKeyRevoked', { key_id: `${id}`, reason: 'revoked', revoked_at: at(value) }),
  ),
  tracking: history(
    tracking,
    (id, value) => event('BrandTracked', { brand_id: `b${id}`, cadence: 'daily', tracked_at: at(value) }),
    (id) => event('TrackingCadenceChanged', { brand_id: `b${id}`, cadence: 'weekly' }),
    (id) => event('BrandUntracked', { brand_id: `b${id}` }),
  ),
  collectionTree: history(
    collectionTree,
    (id, value) =>
      event('CollectionCreated', {
        collection_id: `c${id}`,
        name: `collection ${value}`,
        description: null,
        parent_id: id % 3 === 0 || id === 0 ? null : `c${Math.floor(id / 3)}`,
        visibility: value % 4 === 0 ? 'private' : 'workspace',
        editors: [member(id)],
        first_item: null,
        created_by: member(value),
        created_at: at(value),
      }),
    (id, value) => event('CollectionRenamed', { ...changed(id, value), name: `renamed ${value}` }),
    (id, value) => event('CollectionDescribed', { ...changed(id, value), description: `text ${value}` }),
    (id, value) => event('CollectionMoved', { ...changed(id, value), parent_id: null }),
    (id, value) => event('CollectionVisibilityChanged', { ...changed(id, value), visibility: 'private' }),
    (id, value) => event('CollectionEditorsChanged', { ...changed(id, value), editors: [member(value)] }),
    (id, value) =>
      event('CollectionDeleted', { collection_id: `c${id}`, inside: [`c${(id + value) % ID_COUNT}`] }),
  ),
  collectionItems: history(
    collectionItems(FIRST_ITEM),
    (id, value) =>
      event('CollectionItemAdded', { ...item(id), added_by: member(value), added_at: at(value) }),
    (id) => event('CollectionItemRemoved', item(id)),
  ),
  note: history(
    note,
    (id, value) =>
      event('NoteWritten', {
        subject_type: 'brand',
        subject_key: `${id}`,
        body: `text ${value}\u2028"`,
        written_by: member(id),
        written_at: at(value),
      }),
    (_, value) => event('NoteReplaced', { body: `other ${value}`, replaced_at: at(value) }),
    () => event('NoteDeleted', {}),
  ),
  saved: history(
    saved,
    (id, value) => event('ItemSaved', { ...item(1), saved_by: member(id), saved_at: at(value) }),
    () => event('ItemUnsaved', item(1)),
  ),
  alertRule: history(
    alertRule,
    (id, value) =>
      event('AlertRuleCreated', {
        alert_id: 'a',
        name: `rule ${value}`,
        trigger: 'new_ads',
        brand_ids: [`b${id}`],
        cadence: 'daily',
        email: true,
        webhook_url: null,
        chat: { host: 'chat.example', fingerprint: 'f' },
        enabled: value % 2 === 0,
        member_id: member(id),
        created_at: at(value),
      }),
    (id, value) => event('AlertRuleChanged', { changes: { brand_ids: [`b${id}`] }, changed_at: at(value) }),
    (_, value) => event('AlertRuleChanged', { changes: { enabled: true }, changed_at: at(value) }),
    (_, value) => event('AlertChannelSuspended', suspension(value)),
    (_, value) => event('AlertRuleSuspended', suspension(value)),
    () => event('AlertRuleDeleted', {}),
  ),
  brief: history(
    brief,
    (id) => event('BriefPrepared', { brief_id: 'b', week: `2026-W${id}`, brands: [], notable_items: [] }),
    (_, value) => event('BriefFeedbackGiven', { feedback: value % 2 === 0 ? 'up' : null }),
  ),
  webhookSecret: history(webhookSecret, (id, value) =>
    event('WebhookSecretIssued', { fingerprint: `${id}`, issued_at: at(value) }),
  ),
  signIn: history(
    signInDecider,
    (id, value) => event('MemberInvited', { invitation_id: `${id}`, invited_at: at(value) }),
    (id, value) =>
      event('MemberSignedIn', { sign_in_id: `${id}`, member_id: member(id), signed_in_at: at(value) }),
    (id, value) =>
      event('MemberSignedOut', { sign_in_id: `${id}`, member_id: member(id), signed_out_at: at(value) }),
    (id, value) =>
      event('SignInBlocked', { attempt_id: `${id}`, member_id: member(id), blocked_at: at(value) }),
  ),
  workspace: history(
    workspace,
    () => event('WorkspaceCreated', { name: 'Mine', plan: 'pro' }),
    (_, value) => event('PlanChanged', { plan: value % 2 === 0 ? 'free' : 'business' }),
    (id, value) => event('MemberAdded', { member_id: member(id), role: ROLES[value % 4] }),
    (id, value) => event('MemberRoleChanged', { member_id: member(id), role: ROLES[value % 4] }),
    (id) => event('MemberErased', { member_id: member(id) }),
  ),
};

const eventOf = ({ events }: History, [kind, id, value]: Draw): Event => {
  const create = events[kind % events.length];
  if (!create) throw new Error('a history needs events');
  return create(id % ID_COUNT, value);
};

/** Draws more first events than others, so that states grow. */
export const historyArbitrary = (of: History): fc.Arbitrary<readonly Event[]> =>
  fc
    .array(
      fc.tuple(
        fc.oneof(fc.constant(0), fc.nat({ max: of.events.length - 1 })),
        fc.nat({ max: ID_COUNT - 1 }),
        fc.nat({ max: 200 }),
      ),
      { minLength: 1, maxLength: 250, size: 'max' },
    )
    .map((draws) => draws.map((draw) => eventOf(of, draw)));

/** History that is the same in every run. */
export const fixedHistory = (of: History): readonly Event[] =>
  Array.from({ length: 120 }, (_, index) =>
    eventOf(of, [index % 3 === 0 ? index / 3 : 0, (index * 37) % ID_COUNT, index]),
  );
