import { expect } from 'vitest';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import { ALERT_RULES_MAX, TEST_SENDS_PER_MINUTE } from '#contracts/resources/workspace/alert.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import {
  COLLECTION_DEPTH_MAX,
  COLLECTION_ITEMS_MAX,
  COLLECTIONS_MAX,
} from '#contracts/resources/workspace/collection.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import {
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
} from '#contracts/resources/workspace/report.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { PLANS } from '#contracts/values/access.ts';
import { settingsReference } from '#deploy/write-settings.ts';
import { createAlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { apiKeys, issueApiKey } from '#domain/workspace/api-keys.ts';
import { collectionTree, createCollection } from '#domain/workspace/collection/decider.ts';
import { addCollectionItem, collectionItems } from '#domain/workspace/collection/items.ts';
import { allowApp, connection, CONNECTIONS_MAX } from '#domain/workspace/connection.ts';
import type { Decider } from '#domain/decider.ts';
import { writeNote } from '#domain/workspace/note.ts';
import { type ReportCounts, requestReport } from '#domain/workspace/report.ts';
import { saveItem } from '#domain/workspace/saved-items.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import { trackBrand, tracking } from '#domain/workspace/tracked-brands.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { attack } from './attack.ts';

type Cap = {
  readonly operationId: string | null;
  readonly max: number;
  /** Runs the nth command. Throws its refusal. */
  readonly grow: (place: number) => unknown;
};

const AT = '2026-11-20T12:00:00.000Z';
const own = { workspace_id: 'ws_1', by: 'm', at: AT };
const idOf = (place: number): string => `c1f2b6a0-52a7-5b7e-9c4b-${String(place).padStart(12, '0')}`;

const openStream = <State, E>(decider: Decider<State, E>) => {
  let state = decider.initial;
  return (decision: (state: State) => readonly E[]): void => {
    state = decision(state).reduce(decider.evolve, state);
  };
};

const keys = openStream(apiKeys);
const tree = openStream(collectionTree);
const nested = openStream(collectionTree);
const items = openStream(collectionItems({ first_item: null, created_by: 'm', created_at: AT }));
const tracked = openStream(tracking);
const collection = (place: number, parent_id: string | null) =>
  createCollection({
    ...own,
    by: { member_id: 'm', role: 'owner' },
    collection_id: idOf(place),
    name: 'a',
    description: null,
    parent_id,
    visibility: 'workspace',
    editors: [],
    first_item: null,
  });
const report = (counts: Partial<ReportCounts>) =>
  requestReport({
    ...own,
    report_id: idOf(0),
    brand_ids: null,
    tracked: new Set(['b']),
    types: ['ad_started'],
    from: '2026-11-01',
    to: '2026-11-02',
    counts: { queued: 0, requested: 0, kept: 0, ...counts },
  })(null);

const CAPS: Readonly<Record<string, Cap>> = {
  'API keys': {
    operationId: 'createApiKey',
    max: ACTIVE_KEYS_MAX,
    grow: (place) =>
      keys(
        issueApiKey({
          ...own,
          key_id: `k${place}`,
          sha256: `${place}`,
          last_four: '0000',
          member_id: 'm',
          grantable: [],
          name: 'a',
          scopes: [],
        }),
      ),
  },
  collections: {
    operationId: 'createCollection',
    max: COLLECTIONS_MAX,
    grow: (place) => tree(collection(place, null)),
  },
  'levels of collections': {
    operationId: 'createCollection',
    max: COLLECTION_DEPTH_MAX,
    grow: (place) => nested(collection(place, place === 0 ? null : idOf(place - 1))),
  },
  'items of a collection': {
    operationId: 'addCollectionItem',
    max: COLLECTION_ITEMS_MAX,
    grow: (place) =>
      items(
        addCollectionItem({ ...own, collection_id: 'c', item: { item_type: 'brand', item_key: `${place}` } }),
      ),
  },
  'tracked brands': {
    operationId: 'trackBrand',
    max: PLANS.pro.slots,
    grow: (place) => tracked(trackBrand({ ...own, brand_id: `b${place}`, cadence: 'daily', plan: 'pro' })),
  },
  // These have a stream for each entry, so the number of entries comes from the read model.
  notes: {
    operationId: 'writeNote',
    max: NOTES_MAX,
    grow: (notes) =>
      writeNote({ ...own, subject: { subject_type: 'brand', subject_key: 'a' }, body: 'a', notes })(null),
  },
  'saved items': {
    operationId: 'saveItem',
    max: SAVED_ITEMS_MAX,
    grow: (saved_items) =>
      saveItem({ ...own, item: { item_type: 'brand', item_key: 'a' }, saved_items })(null),
  },
  'alert rules': {
    operationId: 'createAlert',
    max: ALERT_RULES_MAX,
    grow: (rules) =>
      createAlertRule({
        ...own,
        alert_id: 'a',
        settings: {
          name: 'a',
          trigger: 'new_ads',
          brand_ids: ['b'],
          cadence: 'daily',
          email: true,
          webhook_url: null,
          chat: null,
          enabled: true,
        },
        member_id: 'm',
        tracked: new Set(['b']),
        rules,
      })(null),
  },
  'queued reports': {
    operationId: 'requestReport',
    max: REPORTS_QUEUED_MAX,
    grow: (queued) => report({ queued, requested: queued, kept: queued }),
  },
  'reports of a day': {
    operationId: 'requestReport',
    max: REPORTS_PER_DAY_MAX,
    grow: (requested) => report({ requested }),
  },
  'reports in all': {
    operationId: 'requestReport',
    max: REPORTS_KEPT_MAX,
    grow: (kept) => report({ kept }),
  },
  'connected apps': {
    operationId: null,
    max: CONNECTIONS_MAX,
    grow: (connections) =>
      allowApp({
        workspace_id: 'ws_1',
        connection_id: 'con_1',
        member_id: 'm',
        client: { id: 'a', name: 'a', identified_by: 'registration', redirect_host: 'a.example' },
        scopes: [],
        grantable: [],
        connections,
        at: AT,
        expires_at: AT,
      })(connection.initial),
  },
};

const grown = ({ grow, max }: Cap): { count: number; refusal: Refusal } => {
  for (let count = 0; count <= max; count += 1) {
    try {
      grow(count);
    } catch (error) {
      if (error instanceof Refusal) return { count, refusal: error };
      throw error;
    }
  }
  throw new Error(`more than ${max} were accepted`);
};

attack('every list that a workspace grows has a cap, which the refusal and the document name', () => {
  const settings = settingsReference();
  const figures: string[] = [];
  for (const [name, cap] of Object.entries(CAPS)) {
    const { count, refusal } = grown(cap);
    expect(count, name).toBe(cap.max);
    expect([402, 409], name).toContain(ERRORS[refusal.code].status);
    expect(refusal.message, name).toContain(String(cap.max));
    expect(settings, name).toContain(String(cap.max));
    if (cap.operationId !== null) {
      const endpoint = ENDPOINTS.find(({ operationId }) => operationId === cap.operationId);
      expect(endpoint?.description, name).toContain(String(cap.max));
    }
    figures.push(`${name} ${count}`);
  }
  for (const [operationId, max] of [['testAlert', TEST_SENDS_PER_MINUTE]] as const) {
    expect(ENDPOINTS.find((one) => one.operationId === operationId)?.description).toContain(`${max}`);
  }
  expect(settings).toContain(`| browsers in which a member is signed in | ${BROWSERS_MAX} |`);
  return figures.join(', ');
});
