import type { Scope } from '#contracts/values/scopes.ts';

/**
 * The endpoints that the specification names, in its order, each with the scope it asks for. Kept here word for
 * word, so that what is served is held against what was promised and not against itself.
 */
export type Specified = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly scope: Scope;
};

const LINES = `
GET /v1/system/freshness system:read
GET /v1/brands/{brandId} brands:read
GET /v1/brands brands:read
GET /v1/brands/sitemap brands:read
GET /v1/brands/{brandId}/velocity brands:read
GET /v1/brands/{brandId}/breakdown brands:read
GET /v1/brands/{brandId}/similar brands:read
GET /v1/brands/{brandId}/trajectory brands:read
GET /v1/brands/{brandId}/demographics brands:read
GET /v1/brands/{brandId}/tech-stack brands:read
POST /v1/workspaces/{ws}/tracked-brands tracking:write
GET /v1/workspaces/{ws}/tracked-brands brands:read
GET /v1/workspaces/{ws}/tracked-brands/freshness brands:read
DELETE /v1/workspaces/{ws}/tracked-brands/{brandId} tracking:write
GET /v1/brands/{brandId}/social-pages brands:read
GET /v1/brands/{brandId}/leakage brands:read
GET /v1/brands/{brandId}/copy-reuse brands:read
GET /v1/brands/{brandId}/partnerships brands:read
GET /v1/brands/{brandId}/creative-library brands:read
GET /v1/brand-thumbs brands:read
GET /v1/brands/{brandId}/daily-activity brands:read
GET /v1/brands/{brandId}/split-tests brands:read
GET /v1/brands/{brandId}/store brands:read
GET /v1/brand-network brands:read
GET /v1/categories/{categoryId} categories:read
GET /v1/categories categories:read
GET /v1/categories/sitemap categories:read
GET /v1/categories/{categoryId}/stats categories:read
GET /v1/rankings rankings:read
GET /v1/rankings/risers rankings:read
GET /v1/rankings/new-advertisers rankings:read
GET /v1/ads ads:read
GET /v1/ads/{adId} ads:read
GET /v1/brands/{brandId}/ads ads:read
GET /v1/creatives creatives:read
GET /v1/creatives/{creativeId} creatives:read
GET /v1/ads/{adId}/creatives creatives:read
GET /v1/creative-records creatives:read
GET /v1/creative-records/{creativeKey} creatives:read
GET /v1/creative-coverage creatives:read
GET /v1/pages pages:read
GET /v1/pages/{pageId} pages:read
GET /v1/page-details pages:read
GET /v1/operators operators:read
GET /v1/operators/{operatorId} operators:read
GET /v1/hubs operators:read
GET /v1/brands/{brandId}/operators operators:read
GET /v1/tools tools:read
GET /v1/tools/{toolSlug} tools:read
GET /v1/tools/{toolSlug}/brands tools:read
GET /v1/split-test-census tools:read
GET /v1/audience/{segment} audience:read
GET /v1/me me:read
POST /v1/workspaces/{ws}/api-keys apiKeys:write
GET /v1/workspaces/{ws}/api-keys apiKeys:read
POST /v1/workspaces/{ws}/api-keys/{keyId}/rotate apiKeys:write
DELETE /v1/workspaces/{ws}/api-keys/{keyId} apiKeys:write
POST /v1/workspaces/{ws}/api-keys/revoke-unused apiKeys:write
GET /v1/workspaces/{ws}/radar tracking:read
GET /v1/workspaces/{ws}/radar/signals tracking:read
GET /v1/workspaces/{ws}/alerts alerts:read
POST /v1/workspaces/{ws}/alerts alerts:write
PATCH /v1/workspaces/{ws}/alerts/{alertId} alerts:write
DELETE /v1/workspaces/{ws}/alerts/{alertId} alerts:write
GET /v1/workspaces/{ws}/alert-deliveries alerts:read
POST /v1/workspaces/{ws}/alerts/{alertId}/test alerts:write
POST /v1/workspaces/{ws}/alerts/webhook-secret alerts:write
GET /v1/workspaces/{ws}/briefs briefs:read
GET /v1/workspaces/{ws}/briefs/{briefId} briefs:read
PATCH /v1/workspaces/{ws}/briefs/{briefId} briefs:write
POST /v1/workspaces/{ws}/reports reports:write
GET /v1/workspaces/{ws}/reports reports:read
GET /v1/workspaces/{ws}/reports/{reportId} reports:read
GET /v1/workspaces/{ws}/collections collections:read
POST /v1/workspaces/{ws}/collections collections:write
PATCH /v1/workspaces/{ws}/collections/{collectionId} collections:write
DELETE /v1/workspaces/{ws}/collections/{collectionId} collections:write
POST /v1/workspaces/{ws}/collections/{collectionId}/items collections:write
DELETE /v1/workspaces/{ws}/collections/{collectionId}/items/{itemType}/{itemKey} collections:write
GET /v1/workspaces/{ws}/saved collections:read
POST /v1/workspaces/{ws}/saved collections:write
DELETE /v1/workspaces/{ws}/saved/{itemType}/{itemKey} collections:write
GET /v1/workspaces/{ws}/notes notes:read
POST /v1/workspaces/{ws}/notes notes:write
DELETE /v1/workspaces/{ws}/notes/{noteId} notes:write
`;

/** `GET /v1/me`: how an endpoint is called in tests. */
export const lineOf = ({ method, path }: Pick<Specified, 'method' | 'path'>): string => `${method} ${path}`;

export const SPECIFIED: readonly Specified[] = LINES.trim()
  .split('\n')
  .map((line) => {
    const [method, path, scope] = line.split(' ');
    return { method, path, scope } as Specified;
  });
