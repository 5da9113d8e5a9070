import { BRAND_IDS, type Walk } from './demo-walk.ts';

/** Every endpoint of a workspace, in an order in which there is something to answer. */
type Step = {
  readonly line: string;
  readonly query?: string;
  readonly body?: object;
  /** Names by which later steps call what this one answered, each with its field; of a list, of the first item. */
  readonly keeps?: Readonly<Record<string, string>>;
};

const WS = '/v1/workspaces/{ws}';
const DAY_MS = 86_400_000;
const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
const [FIRST = '', SECOND = ''] = BRAND_IDS;
const ITEM = { item_type: 'brand', item_key: FIRST };

const BEFORE_BRIEFS: readonly Step[] = [
  { line: 'GET /v1/me' },
  ...BRAND_IDS.map((brand_id) => ({ line: `POST ${WS}/tracked-brands`, body: { brand_id } })),
  { line: `GET ${WS}/tracked-brands` },
  { line: `GET ${WS}/tracked-brands/freshness` },
  { line: `GET ${WS}/radar`, query: '?days=14' },
  { line: `GET ${WS}/radar/signals`, query: '?days=14' },
  {
    line: `POST ${WS}/alerts`,
    body: {
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [FIRST],
      email: true,
      webhook_url: 'https://hooks.shop.example/in',
    },
    keeps: { alertId: 'id' },
  },
  { line: `PATCH ${WS}/alerts/{alertId}`, body: { cadence: 'daily', webhook_url: null } },
  { line: `GET ${WS}/alerts` },
  { line: `POST ${WS}/alerts/{alertId}/test`, body: {} },
  { line: `GET ${WS}/alert-deliveries` },
  { line: `POST ${WS}/alerts/webhook-secret`, body: {} },
  { line: `DELETE ${WS}/alerts/{alertId}`, body: {} },
  {
    line: `POST ${WS}/reports`,
    body: { from: dayBefore(14), to: dayBefore(1) },
    keeps: { reportId: 'id' },
  },
  { line: `GET ${WS}/reports` },
  { line: `GET ${WS}/reports/{reportId}` },
  {
    line: `POST ${WS}/collections`,
    body: { name: 'Launches to watch', first_item: ITEM },
    keeps: { collectionId: 'id' },
  },
  { line: `PATCH ${WS}/collections/{collectionId}`, body: { name: 'Launches' } },
  {
    line: `POST ${WS}/collections/{collectionId}/items`,
    body: { item_type: 'brand', item_key: SECOND },
    keeps: { itemType: 'item_type', itemKey: 'item_key' },
  },
  { line: `GET ${WS}/collections` },
  { line: `DELETE ${WS}/collections/{collectionId}/items/{itemType}/{itemKey}`, body: {} },
  { line: `DELETE ${WS}/collections/{collectionId}`, body: {} },
  { line: `POST ${WS}/saved`, body: ITEM, keeps: { itemType: 'item_type', itemKey: 'item_key' } },
  { line: `GET ${WS}/saved` },
  { line: `DELETE ${WS}/saved/{itemType}/{itemKey}`, body: {} },
  {
    line: `POST ${WS}/notes`,
    body: { subject_type: 'brand', subject_key: FIRST, body: 'Look again on Monday.' },
    keeps: { noteId: 'id' },
  },
  { line: `GET ${WS}/notes` },
  { line: `DELETE ${WS}/notes/{noteId}`, body: {} },
];

const AFTER_BRIEFS: readonly Step[] = [
  { line: `GET ${WS}/briefs`, keeps: { briefId: 'id' } },
  { line: `GET ${WS}/briefs/{briefId}` },
  { line: `PATCH ${WS}/briefs/{briefId}`, body: { feedback: 'useful' } },
  {
    line: `POST ${WS}/api-keys`,
    body: { name: 'reader', scopes: ['brands:read'] },
    keeps: { keyId: 'key_id' },
  },
  { line: `POST ${WS}/api-keys/{keyId}/rotate`, body: {}, keeps: { keyId: 'key_id' } },
  { line: `DELETE ${WS}/api-keys/{keyId}`, body: {} },
  { line: `POST ${WS}/api-keys`, body: { name: 'another', scopes: ['brands:read'] } },
  { line: `POST ${WS}/api-keys/revoke-unused`, body: { days: 1 } },
  { line: `GET ${WS}/api-keys` },
  { line: `DELETE ${WS}/tracked-brands/{brandId}`, body: {}, keeps: { brandId: 'brand_id' } },
];

export const walkWorkspace = async ({ ask }: Walk, prepareBriefs: () => Promise<void>): Promise<void> => {
  const ids: Record<string, string> = { brandId: FIRST };
  const take = async ({ line, query = '', body, keeps = {} }: Step): Promise<void> => {
    const data: never = await ask(line, { ids, query, ...(body ? { body } : {}) });
    const record = ((Array.isArray(data) ? data[0] : data) ?? {}) as Readonly<Record<string, string>>;
    for (const [name, field] of Object.entries(keeps)) ids[name] = record[field] ?? '';
  };
  for (const step of BEFORE_BRIEFS) await take(step);
  await prepareBriefs();
  for (const step of AFTER_BRIEFS) await take(step);
};
