import { alertDeliveryStream, type AlertDeliveryEvent } from '#contracts/events/workspace/alert-delivery.ts';
import { alertRuleStream, type AlertRuleEvent } from '#contracts/events/workspace/alert-rule.ts';
import { briefStream } from '#contracts/events/workspace/brief.ts';
import { collectionItemsStream, collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import { noteStream } from '#contracts/events/workspace/note.ts';
import { reportStream } from '#contracts/events/workspace/report.ts';
import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import { connectionStream } from '#contracts/events/workspace/connection.ts';
import { signInStream } from '#contracts/events/workspace/sign-in.ts';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { apiKeysStream, trackingStream, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { alertPayload, signalItem } from '#domain/workspace/alert/payload.ts';
import {
  alertRule,
  changeAlertRule,
  createAlertRule,
  deleteAlertRule,
  suspendAlertChannel,
} from '#domain/workspace/alert/rule-decider.ts';
import { apiKeys, issueApiKey, keyIdOf, rotateApiKey } from '#domain/workspace/api-keys.ts';
import { brief, briefIdOf, giveBriefFeedback, prepareBrief } from '#domain/workspace/brief.ts';
import {
  changeCollection,
  collectionTree,
  createCollection,
  deleteCollection,
} from '#domain/workspace/collection/decider.ts';
import {
  addCollectionItem,
  collectionItems,
  removeCollectionItem,
} from '#domain/workspace/collection/items.ts';
import { deleteNote, note, noteIdOf, writeNote } from '#domain/workspace/note.ts';
import {
  extendReportLease,
  failReport,
  finishReport,
  report,
  requestReport,
  startReport,
} from '#domain/workspace/report.ts';
import { saved, saveItem, unsaveItem } from '#domain/workspace/saved-items.ts';
import { trackBrand, tracking, untrackBrand } from '#domain/workspace/tracked-brands.ts';
import {
  allowApp,
  connectApp,
  connection,
  connectionIdOf,
  denyApp,
  disconnectApp,
  GRANTABLE_SCOPES,
} from '#domain/workspace/connection.ts';
import { blockSignIn, inviteMember, signIn, signInDecider, signOut } from '#domain/workspace/sign-in.ts';
import { issueWebhookSecret, webhookSecret } from '#domain/workspace/webhook-secret.ts';
import {
  addMember,
  changePlan,
  createWorkspace,
  eraseMember,
  workspace,
} from '#domain/workspace/workspace.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { record, type StreamEvent } from './recording.ts';

/** Samples of workspace events, in the order of the aggregates' lives. */

const workspace_id = 'ws_released';
const BRANDS = [brandIdOf('shop.example'), brandIdOf('boots.example')] as const;
const [BRAND, OTHER_BRAND] = BRANDS;
const tracked = new Set<string>(BRANDS);
const ALERT = derivedId('sample', 'alert rule');
const AD = { item_type: 'ad', item_key: '9999999991' } as const;
const owner = { member_id: 'ada', role: 'owner' } as const;
const editor = { member_id: 'bea', role: 'editor' } as const;
const at = (minute: number): string => new Date(Date.UTC(2026, 4, 11, 9, minute)).toISOString();
const sha256 = (digit: string): string => digit.repeat(64);

const members = (): readonly StreamEvent[] =>
  record(
    workspaceStream(workspace_id),
    workspace,
    createWorkspace({ workspace_id, name: 'Example Agency', plan: 'pro', at: at(0) }),
    changePlan({ workspace_id, plan: 'business', at: at(1) }),
    addMember({ workspace_id, member_id: 'ada', name: 'Ada', role: 'owner', at: at(2) }),
    addMember({ workspace_id, member_id: 'bea', name: '', sealed: 'c2VhbGVk', role: 'viewer', at: at(3) }),
    addMember({ workspace_id, member_id: 'bea', name: '', role: 'editor', at: at(4) }),
    addMember({ workspace_id, member_id: 'cyd', name: '', sealed: 'c2VhbGVk', role: 'viewer', at: at(5) }),
    eraseMember({ workspace_id, member_id: 'cyd', at: at(6) }),
  );

const brands = (): readonly StreamEvent[] =>
  record(
    trackingStream(workspace_id),
    tracking,
    trackBrand({ workspace_id, brand_id: BRAND, cadence: 'daily', plan: 'business', at: at(0) }),
    trackBrand({ workspace_id, brand_id: OTHER_BRAND, cadence: 'daily', plan: 'business', at: at(1) }),
    trackBrand({ workspace_id, brand_id: BRAND, cadence: 'weekly', plan: 'business', at: at(2) }),
    untrackBrand({ workspace_id, brand_id: OTHER_BRAND, at: at(3) }),
  );

const keys = (): readonly StreamEvent[] => {
  const [issued, replacement] = [keyIdOf('sample 1'), keyIdOf('sample 2')];
  const grantable = ['brands:read', 'ads:read'] as const;
  const common = { workspace_id, member_id: 'ada', grantable };
  return record(
    apiKeysStream(workspace_id),
    apiKeys,
    issueApiKey({
      ...common,
      key_id: issued,
      name: 'Dashboard',
      sha256: sha256('a'),
      last_four: 'aaaa',
      scopes: grantable,
      at: at(0),
    }),
    rotateApiKey({
      ...common,
      key_id: replacement,
      rotated_key_id: issued,
      sha256: sha256('b'),
      last_four: 'bbbb',
      at: at(1),
    }),
  );
};

const alerts = (): readonly StreamEvent[] => {
  const rule = { workspace_id, alert_id: ALERT };
  const settings = {
    name: 'Launches',
    trigger: 'new_ads',
    brand_ids: [BRAND],
    cadence: 'instant',
    email: true,
    webhook_url: 'https://hooks.shop.example/in',
    chat: { host: 'hooks.chat.example', fingerprint: sha256('f') },
    enabled: true,
  } as const;
  const failing = { channel: 'webhook', failing_since: at(1) } as const;
  // No decision records this older type any more.
  const suspended: AlertRuleEvent = {
    type: 'AlertRuleSuspended',
    data: { ...rule, channel: 'chat', failing_since: at(4), suspended_at: at(5) },
  };
  return record(
    alertRuleStream(workspace_id, ALERT),
    alertRule,
    createAlertRule({ ...rule, settings, member_id: 'ada', tracked, rules: 0, at: at(0) }),
    suspendAlertChannel({ ...rule, ...failing, at: at(2) }),
    changeAlertRule({
      ...rule,
      change: { name: 'All launches', brand_ids: BRANDS, enabled: true },
      tracked,
      at: at(3),
    }),
    () => [suspended],
    deleteAlertRule({ ...rule, at: at(6) }),
  );
};

/** Events without a decider: the outbox records what its tables hold. */
const deliveries = (): readonly StreamEvent[] => {
  const delivery_id = derivedId('sample', 'delivery');
  const ids = { workspace_id, alert_id: ALERT, delivery_id };
  const brand = { brand_id: BRAND, slug: 'shop-example', name: 'Example Shop', logo_url: null };
  const signal = {
    id: derivedId('sample', 'signal'),
    kind: 'launch_burst',
    observed_at: at(0),
    summary: '12 ads were first observed in one day.',
  };
  const payload = alertPayload({
    delivery_id,
    kind: 'alert',
    rule: { workspace_id, alert_id: ALERT, name: 'Launches', trigger: 'activity', cadence: 'instant' },
    matched: {
      items: [signalItem(signal, brand, workspace_id, 'https://ads.example')],
      items_total: 1,
      as_of: at(0),
    },
    period: null,
    at: at(1),
  });
  const attempt = { ...ids, attempted_at: at(2), attempt: 1, duration_ms: 120 };
  const events: readonly AlertDeliveryEvent[] = [
    {
      type: 'DeliveryQueued',
      data: { ...ids, channel: 'webhook', kind: 'alert', payload, queued_at: at(1) },
    },
    {
      type: 'DeliveryAttempted',
      data: {
        ...attempt,
        outcome: 'retrying',
        failure: 'http',
        status_code: 503,
        reason: 'The receiver replied with status 503.',
        next_attempt_at: at(3),
      },
    },
    { type: 'DeliveryCancelled', data: { ...ids, reason: 'An operator cancelled it.', cancelled_at: at(3) } },
    { type: 'DeliveryReplayed', data: { ...ids, replayed_at: at(4) } },
    {
      type: 'DeliveryAttempted',
      data: {
        ...attempt,
        attempted_at: at(5),
        attempt: 2,
        outcome: 'delivered',
        failure: null,
        status_code: 200,
        reason: null,
        next_attempt_at: null,
      },
    },
  ];
  return events.map((event) => ({ stream: alertDeliveryStream(workspace_id, ALERT), event }));
};

const briefs = (): readonly StreamEvent[] => {
  const week = { name: '2026-W19', from: '2026-05-04', to: '2026-05-10' };
  const brief_id = briefIdOf(workspace_id, week);
  const item = {
    id: derivedId('sample', 'radar item'),
    type: 'ad_started',
    observed_at: '2026-05-05T08:00:00.000Z',
    brand: { id: BRAND, slug: 'shop-example', name: 'Example Shop', logo_url: null },
    ad: {
      id: '9999999991',
      page: { page_id: '100000001', page_name: 'Example Shop' },
      format: 'image',
      title: 'Cove boot',
      body: 'The cove boot is back.',
      started_on: '2026-05-04',
    },
    destination_url: null,
    previous_destination_url: null,
    basis: null,
    stopped_on: null,
  } as const;
  return record(
    briefStream(workspace_id, brief_id),
    brief,
    prepareBrief({
      workspace_id,
      week,
      brands: [{ brand_id: BRAND, ads_started: 1, ads_stopped: 0, destinations_changed: 0 }],
      notable_items: [item],
      at: at(0),
    }),
    giveBriefFeedback({ workspace_id, brief_id, feedback: 'useful', at: at(1) }),
  );
};

const collections = (): readonly StreamEvent[] => {
  const [top, inner, deleted] = ['top', 'inner', 'deleted'].map((name) => derivedId('sample', name)) as [
    string,
    string,
    string,
  ];
  const create = (collection_id: string, parent_id: string | null) =>
    createCollection({
      workspace_id,
      collection_id,
      name: 'Boots',
      description: 'Boots of all shops.',
      parent_id,
      visibility: 'workspace',
      editors: [],
      first_item: AD,
      by: editor,
      at: at(0),
    });
  const item = { workspace_id, collection_id: top, by: 'bea' };
  const brandItem = { item_type: 'brand', item_key: BRAND } as const;
  return [
    ...record(
      collectionTreeStream(workspace_id),
      collectionTree,
      create(top, null),
      create(inner, top),
      create(deleted, null),
      changeCollection({
        workspace_id,
        collection_id: inner,
        change: {
          name: 'Wet boots',
          description: null,
          parent_id: deleted,
          visibility: 'private',
          editors: ['cyd'],
        },
        by: editor,
        at: at(1),
      }),
      deleteCollection({ workspace_id, collection_id: deleted, by: editor, at: at(2) }),
    ),
    ...record(
      collectionItemsStream(workspace_id, top),
      collectionItems({ first_item: null, created_by: 'bea', created_at: at(0) }),
      addCollectionItem({ ...item, item: AD, at: at(3) }),
      addCollectionItem({ ...item, item: brandItem, at: at(4) }),
      removeCollectionItem({ ...item, item: AD, at: at(5) }),
    ),
  ];
};

const notes = (): readonly StreamEvent[] => {
  const subject = { subject_type: 'ad', subject_key: AD.item_key } as const;
  const note_id = noteIdOf(workspace_id, 'bea', subject);
  const write = (body: string, minute: number) =>
    writeNote({ workspace_id, subject, body, by: 'bea', at: at(minute), notes: 0 });
  return record(
    noteStream(workspace_id, note_id),
    note,
    write('A strong hook.', 0),
    write('A strong hook and a weak offer.', 1),
    deleteNote({ workspace_id, note_id, by: owner, at: at(2) }),
    write('Seen again.', 3),
  );
};

const reports = (): readonly StreamEvent[] => {
  const request = (report_id: string) =>
    requestReport({
      workspace_id,
      report_id,
      brand_ids: null,
      tracked,
      types: ['ad_started'],
      from: '2026-05-01',
      to: '2026-05-10',
      at: at(0),
      counts: { queued: 0, requested: 0, kept: 0 },
    });
  const start = (minute: number) => startReport({ worker_id: 'worker-1', at: at(minute), lease_seconds: 30 });
  const worker = (attempt: number, minute: number) => ({ worker_id: 'worker-1', attempt, at: at(minute) });
  const fail = (attempt: number, minute: number) =>
    failReport({ ...worker(attempt, minute), reason: 'The object store cannot be reached.' });
  const [finished, failed] = [derivedId('sample', 'report'), derivedId('sample', 'failed report')];
  const file = { object_key: `reports/${finished}.csv`, bytes: 1_200, rows: 12, sha256: sha256('c') };
  return [
    ...record(
      reportStream(workspace_id, finished),
      report,
      request(finished),
      start(1),
      extendReportLease({ ...worker(1, 2), lease_seconds: 30 }),
      finishReport({ ...worker(1, 3), ...file }),
    ),
    ...record(
      reportStream(workspace_id, failed),
      report,
      request(failed),
      start(1),
      fail(1, 2),
      start(4),
      fail(2, 5),
      start(8),
      fail(3, 9),
    ),
  ];
};

const savedItems = (): readonly StreamEvent[] => {
  const command = { workspace_id, item: AD, by: 'bea' };
  return record(
    savedStream(workspace_id, AD),
    saved,
    saveItem({ ...command, saved_items: 0, at: at(0) }),
    unsaveItem({ ...command, at: at(1) }),
    saveItem({ ...command, saved_items: 0, at: at(2) }),
  );
};

const secrets = (): readonly StreamEvent[] =>
  record(
    webhookSecretStream(workspace_id),
    webhookSecret,
    issueWebhookSecret({ workspace_id, fingerprint: sha256('d'), at: at(0) }),
    issueWebhookSecret({ workspace_id, fingerprint: sha256('e'), at: at(1) }),
  );

const signIns = (): readonly StreamEvent[] => {
  const ada = { workspace_id, member_id: 'ada' };
  const sign_in_id = derivedId('sample', 'sign-in');
  return record(
    signInStream(workspace_id),
    signInDecider,
    inviteMember({
      ...ada,
      invitation_id: derivedId('sample', 'invitation'),
      at: at(0),
      expires_at: '2026-05-12T09:00:00.000Z',
    }),
    signIn({ ...ada, sign_in_id, method: 'invitation', at: at(1) }),
    signOut({ ...ada, sign_in_id, at: at(2) }),
    blockSignIn({ ...ada, attempt_id: derivedId('sample', 'attempt'), at: at(3) }),
  );
};

const connections = (): readonly StreamEvent[] => {
  const client = {
    id: 'https://assistant.example/client.json',
    name: 'Assistant',
    identified_by: 'document',
    redirect_host: 'assistant.example',
  } as const;
  const keyOf = (grant: string) => ({ workspace_id, connection_id: connectionIdOf(grant) });
  const allowed = keyOf('allowed');
  const denied = keyOf('denied');
  const consent = { member_id: 'ada', client };
  return [
    ...record(
      connectionStream(workspace_id, allowed.connection_id),
      connection,
      allowApp({
        ...allowed,
        ...consent,
        scopes: ['brands:read', 'notes:write'],
        grantable: GRANTABLE_SCOPES,
        connections: 0,
        at: at(0),
        expires_at: '2026-11-07T09:00:00.000Z',
      }),
      connectApp({ ...allowed, at: at(1) }),
      disconnectApp({ ...allowed, reason: 'member', at: at(2) }),
    ),
    ...record(
      connectionStream(workspace_id, denied.connection_id),
      connection,
      denyApp({ ...denied, ...consent, at: at(3) }),
    ),
  ];
};

export const workspaceSamples = (): readonly StreamEvent[] => [
  ...members(),
  ...brands(),
  ...keys(),
  ...alerts(),
  ...deliveries(),
  ...briefs(),
  ...collections(),
  ...notes(),
  ...reports(),
  ...savedItems(),
  ...secrets(),
  ...signIns(),
  ...connections(),
];
