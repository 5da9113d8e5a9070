import type { Actor } from '../events/event.ts';
import type { AlertDeliveryEvent } from '../events/workspace/alert-delivery.ts';
import type { AlertRuleEvent } from '../events/workspace/alert-rule.ts';
import type { BrandRequestEvent } from '../events/workspace/brand-request.ts';
import type { BriefEvent } from '../events/workspace/brief.ts';
import type { CollectionEvent } from '../events/workspace/collection.ts';
import type { ConnectionEvent } from '../events/workspace/connection.ts';
import type { NoteEvent } from '../events/workspace/note.ts';
import type { ReportEvent } from '../events/workspace/report.ts';
import type { SavedEvent } from '../events/workspace/saved-items.ts';
import type { SignInEvent } from '../events/workspace/sign-in.ts';
import type { WebhookSecretEvent } from '../events/workspace/webhook-secret.ts';
import type { ApiKeyEvent, TrackingEvent, WorkspaceEvent } from '../events/workspace/workspace.ts';
import type { HistoryRecord, WORKSPACE_CATEGORIES } from './entry.ts';

/** One sentence for each event of a workspace's history, for people who read it. */

type EventsOf = {
  workspace: WorkspaceEvent;
  tracking: TrackingEvent;
  apiKeys: ApiKeyEvent;
  collection: CollectionEvent;
  saved: SavedEvent;
  note: NoteEvent;
  report: ReportEvent;
  brief: BriefEvent;
  alertRule: AlertRuleEvent;
  alertDelivery: AlertDeliveryEvent;
  webhookSecret: WebhookSecretEvent;
  signIn: SignInEvent;
  connection: ConnectionEvent;
  brandRequests: BrandRequestEvent;
};
type HistoryEvent = EventsOf[(typeof WORKSPACE_CATEGORIES)[number]];
type DataOf<Type extends HistoryEvent['type']> = Extract<HistoryEvent, { readonly type: Type }>['data'];

/** Names of members, keys and brands by id. An id without a name is shown itself. */
export type Names = ReadonlyMap<string, string>;

/** In place of the name of an erased member. */
export const erasedName = (memberId: string): string => `${memberId} (erased)`;

type NameOf = (id: string) => string;

const quoted = (text: string): string => `“${text}”`;
const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Verb and object, which follow the name of the actor. */
const PREDICATES: {
  readonly [Type in HistoryEvent['type']]: (data: DataOf<Type>, nameOf: NameOf) => string;
} = {
  WorkspaceCreated: ({ name, plan }) => `created the workspace ${quoted(name)} on the plan ${plan}`,
  PlanChanged: ({ plan }) => `changed the plan to ${plan}`,
  MemberAdded: ({ member_id, role }, nameOf) => `added member ${nameOf(member_id)} as ${role}`,
  MemberRoleChanged: ({ member_id, role }, nameOf) =>
    `changed the role of member ${nameOf(member_id)} to ${role}`,
  MemberErased: ({ member_id }, nameOf) => `erased the name and address of member ${nameOf(member_id)}`,

  BrandTracked: ({ brand_id, cadence }, nameOf) => `tracked brand ${nameOf(brand_id)} ${cadence}`,
  TrackingCadenceChanged: ({ brand_id, cadence }, nameOf) =>
    `changed the cadence of brand ${nameOf(brand_id)} to ${cadence}`,
  BrandUntracked: ({ brand_id }, nameOf) => `stopped tracking brand ${nameOf(brand_id)}`,

  ApiKeyIssued: ({ name, last_four, member_id, scopes, replaces }, nameOf) =>
    `issued API key ${quoted(name)} (…${last_four}) to member ${nameOf(member_id)} with ${count(scopes.length, 'scope')}${replaces === undefined ? '' : `, in place of key ${nameOf(replaces)}`}`,
  ApiKeyRevoked: ({ key_id, reason }, nameOf) =>
    `revoked API key ${nameOf(key_id)}${reason === 'revoked' ? '' : ` (${reason})`}`,

  CollectionCreated: ({ name, visibility }) =>
    `created the collection ${quoted(name)}, visible to ${visibility === 'private' ? 'its editors' : 'the workspace'}`,
  CollectionRenamed: ({ collection_id, name }) => `renamed collection ${collection_id} to ${quoted(name)}`,
  CollectionDescribed: ({ collection_id, description }) =>
    `${description === null ? 'removed' : 'changed'} the description of collection ${collection_id}`,
  CollectionMoved: ({ collection_id, parent_id }) =>
    `moved collection ${collection_id} ${parent_id === null ? 'to the top' : `into collection ${parent_id}`}`,
  CollectionVisibilityChanged: ({ collection_id, visibility }) =>
    `made collection ${collection_id} visible to ${visibility === 'private' ? 'its editors only' : 'the workspace'}`,
  CollectionEditorsChanged: ({ collection_id, editors }, nameOf) =>
    `changed the editors of collection ${collection_id} to ${editors.length === 0 ? 'its creator only' : editors.map(nameOf).join(', ')}`,
  CollectionDeleted: ({ collection_id, inside }) =>
    `deleted collection ${collection_id}${inside.length === 0 ? '' : ` and ${count(inside.length, 'collection')} inside it`}`,
  CollectionItemAdded: ({ collection_id, item_type, item_key }, nameOf) =>
    `added ${item_type} ${nameOf(item_key)} to collection ${collection_id}`,
  CollectionItemRemoved: ({ collection_id, item_type, item_key }, nameOf) =>
    `removed ${item_type} ${nameOf(item_key)} from collection ${collection_id}`,

  ItemSaved: ({ item_type, item_key }, nameOf) => `saved ${item_type} ${nameOf(item_key)}`,
  ItemUnsaved: ({ item_type, item_key }, nameOf) =>
    `removed ${item_type} ${nameOf(item_key)} from the saved items`,

  NoteWritten: ({ subject_type, subject_key }, nameOf) =>
    `wrote a note about ${subject_type} ${nameOf(subject_key)}`,
  NoteReplaced: ({ note_id }) => `replaced the text of note ${note_id}`,
  NoteDeleted: ({ note_id }) => `deleted note ${note_id}`,

  ReportRequested: ({ report_id, brand_ids, all_tracked, from, to }) =>
    `requested report ${report_id} about ${all_tracked ? 'all tracked brands' : count(brand_ids.length, 'brand')} from ${from} to ${to}`,
  ReportStarted: ({ report_id, attempt }) => `started attempt ${attempt} of report ${report_id}`,
  ReportLeaseExtended: ({ report_id, lease_until }) =>
    `went on with report ${report_id}, and keeps it until ${lease_until}`,
  ReportFinished: ({ report_id, rows }) => `finished report ${report_id} with ${count(rows, 'row')}`,
  ReportAttemptFailed: ({ report_id, attempt, reason }) =>
    `failed in attempt ${attempt} of report ${report_id}: ${reason}`,
  ReportFailed: ({ report_id, reason }) => `gave up report ${report_id}: ${reason}`,
  ReportRestated: ({ report_id, rows_total }) =>
    `restated report ${report_id}: ${count(rows_total, 'row')} ${rows_total === 1 ? 'differs' : 'differ'} from before`,

  BriefPrepared: ({ week, brands }) =>
    `prepared the brief of week ${week} about ${count(brands.length, 'brand')}`,
  BriefFeedbackGiven: ({ brief_id, feedback }) =>
    feedback === null
      ? `removed the verdict on brief ${brief_id}`
      : `called brief ${brief_id} ${feedback.replaceAll('_', ' ')}`,
  BriefRestated: ({ brief_id, rows_total }) =>
    `restated brief ${brief_id}: the counts of ${count(rows_total, 'brand')} differ from before`,

  AlertRuleCreated: ({ name, trigger, brand_ids, cadence }) =>
    `created the alert rule ${quoted(name)} for ${trigger.replaceAll('_', ' ')} at ${count(brand_ids.length, 'brand')}, ${cadence}`,
  AlertRuleChanged: ({ alert_id, changes }) =>
    `changed alert rule ${alert_id}: ${Object.keys(changes).join(', ').replaceAll('_', ' ')}`,
  AlertChannelSuspended: ({ alert_id, channel, failing_since }) =>
    `suspended the channel ${channel} of alert rule ${alert_id}, which had failed since ${failing_since}`,
  AlertRuleSuspended: ({ alert_id, channel, failing_since }) =>
    `suspended alert rule ${alert_id}, whose channel ${channel} had failed since ${failing_since}`,
  AlertRuleDeleted: ({ alert_id }) => `deleted alert rule ${alert_id}`,

  DeliveryQueued: ({ delivery_id, kind, channel, alert_id }) =>
    `queued the ${kind} ${delivery_id} of alert rule ${alert_id} for its channel ${channel}`,
  DeliveryAttempted: ({ delivery_id, attempt, outcome, reason }) =>
    outcome === 'delivered'
      ? `delivered ${delivery_id} in attempt ${attempt}`
      : `did not deliver ${delivery_id} in attempt ${attempt}, and ${outcome === 'failed' ? 'gave up' : 'will try again'}: ${reason ?? 'no reason is recorded'}`,
  DeliveryCancelled: ({ delivery_id, reason }) => `cancelled delivery ${delivery_id}: ${reason}`,
  DeliveryReplayed: ({ delivery_id }) => `asked for delivery ${delivery_id} to be sent again`,

  WebhookSecretIssued: ({ fingerprint }) =>
    `issued the secret ${fingerprint.slice(0, 8)}… that signs webhooks from then on`,

  MemberInvited: ({ member_id, expires_at }, nameOf) =>
    `invited member ${nameOf(member_id)} by a link that holds until ${expires_at}`,
  MemberSignedIn: ({ member_id, method }, nameOf) =>
    `signed member ${nameOf(member_id)} in (${method === 'upstream' ? 'by the identity provider' : `by ${method}`})`,
  MemberSignedOut: ({ member_id }, nameOf) => `signed member ${nameOf(member_id)} out`,
  SignInBlocked: ({ member_id }, nameOf) =>
    `withdrew the sign-in code of member ${nameOf(member_id)} after too many wrong codes`,

  AppAllowed: ({ client, member_id, scopes }, nameOf) =>
    `allowed the app ${quoted(client.name)} to act as member ${nameOf(member_id)} with ${count(scopes.length, 'scope')}`,
  AppDenied: ({ client, member_id }, nameOf) =>
    `denied the app ${quoted(client.name)} to act as member ${nameOf(member_id)}`,
  AppConnected: ({ connection_id }) => `connected the app of connection ${connection_id}`,
  AppDisconnected: ({ connection_id, reason }) =>
    `ended connection ${connection_id} of an app (${reason.replaceAll('_', ' ')})`,

  BrandRequested: ({ domain, track }) =>
    `asked for the brand of ${domain}${track ? ', to be tracked when it is known' : ''}`,
  BrandRequestAccepted: ({ request_id, accepted_by }) =>
    `accepted brand request ${request_id}${accepted_by === 'plan' ? ', as the plan allows' : ''}`,
  BrandRequestRefused: ({ request_id, reason }) => `refused brand request ${request_id}: ${reason}`,
  BrandRequestFulfilled: ({ request_id, slug, tracking }) =>
    `found the brand ${slug} of brand request ${request_id}${tracking === 'no_slot' ? ', and no free slot to track it' : ''}`,
};

const KINDS: Readonly<Record<Actor['kind'], string>> = {
  api_key: 'API key',
  connection: 'Connection',
  member: 'Member',
  service: 'The service',
};

/** A newer release can have recorded another type, and a table that was tampered with can have any data. */
const predicateOf = (type: string, data: unknown, nameOf: NameOf): string => {
  if (!Object.hasOwn(PREDICATES, type)) return `recorded ${type}, which this release does not know`;
  const write = PREDICATES[type as HistoryEvent['type']] as (data: unknown, nameOf: NameOf) => string;
  try {
    return write(data, nameOf);
  } catch {
    return `recorded ${type} with data that cannot be read`;
  }
};

export const sentenceOf = (
  { actor, type, data }: Pick<HistoryRecord, 'actor' | 'type' | 'data'>,
  names: Names,
): string => {
  const nameOf: NameOf = (id) => names.get(id) ?? id;
  return `${KINDS[actor.kind]} ${nameOf(actor.id)} ${predicateOf(type, data, nameOf)}.`;
};
