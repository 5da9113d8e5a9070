import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '#operations/index.ts';

const TOOLS = join(import.meta.dirname, '../../../services/mcp/tools');

/** Reads that no tool has: other forms of the same records, files for search engines, and keys. */
const READS_LEFT_OUT = [
  'backtestAlert',
  'getAdProof',
  'getBrandBounds',
  'getBrandRequest',
  'getCreative',
  'getDeliveryProof',
  'getRadarItemProof',
  'getReport',
  'listApiKeys',
  'listBrandRequests',
  'listBrandSignals',
  'listBrandSitemap',
  'listBrandThumbs',
  'listCategorySitemap',
  'listCollectionItems',
  'listCreatives',
  'listMembers',
  'listPageDetails',
  'listRestatements',
  'lookUp',
  'searchAlertDeliveries',
  'searchBrandAds',
];
const WRITES_OFFERED = [
  'addCollectionItem',
  'requestReport',
  'saveItem',
  'trackBrand',
  'untrackBrand',
  'writeNote',
];

test('the tools read every endpoint but those left out, and write through six', () => {
  const sources = globSync('**/*.ts', { cwd: TOOLS }).map((file) => readFileSync(join(TOOLS, file), 'utf8'));
  const imported = new Set(
    sources.flatMap((source) =>
      [...source.matchAll(/import \{([^}]*)\} from '#operations\//g)].flatMap(
        ([, names = '']) => names.match(/\w+(?= as )|(?<! as )\b\w+(?=\s*(,|$))/g) ?? [],
      ),
    ),
  );
  const idsOf = (isRead: boolean, isOffered: boolean): readonly string[] =>
    ENDPOINTS.filter(({ scope }) => scope.endsWith(':read') === isRead)
      .map(({ operationId }) => operationId)
      .filter((id) => imported.has(id) === isOffered)
      .toSorted();
  expect(idsOf(true, false)).toEqual(READS_LEFT_OUT);
  expect(idsOf(false, true)).toEqual(WRITES_OFFERED);
});
