import { SplitTestCensusItem } from '#contracts/resources/corpus/split-test.ts';
import { readSplitTestCensus } from '#projections/split-tests/read.ts';
import { listReply } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { noQuery } from './endpoint/parameters.ts';
import { toolReference } from './tools.ts';
import { corpusRead } from './endpoint/kinds.ts';

const censusExample = {
  tool: toolReference,
  is_read: true,
  brands_installed: 412,
  brands_read: 377,
  brands_running: 128,
};

export const getSplitTestCensus = endpoint({
  ...corpusRead,
  path: '/v1/split-test-census',
  operationId: 'getSplitTestCensus',
  tag: 'Tools',
  scope: 'tools:read',
  summary: 'Read the census of split testing',
  description:
    'Counts for every split-testing tool: public brands with it, brands whose tool was read, and brands that run at least one experiment. Personalizations and rollouts are not counted. Null means not read, never zero.',
  query: noQuery,
  reply: { status: 200, shape: 'whole', data: SplitTestCensusItem, example: [censusExample] },
  reads: ['split-tests'],
  handler: async (_call, { db }) => {
    const { items, asOf } = await readSplitTestCensus(db);
    return listReply(items, asOf);
  },
});
