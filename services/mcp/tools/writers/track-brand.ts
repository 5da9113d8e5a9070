import { z } from 'zod';
import { Cadence } from '#contracts/values/primitives.ts';
import { trackBrand as trackBrandEndpoint } from '#operations/tracked-brands.ts';
import { tool } from '../define-tool.ts';
import { Brand, brandIdOf, isUuid, slugCost } from '../parameters.ts';
import { written } from './written.ts';

export const trackBrand = tool({
  name: 'track_brand',
  title: 'Track a brand',
  description:
    'Adds a brand to the tracked brands of the workspace, or changes how often it is scanned. Uses a slot of the plan.',
  input: z.strictObject({ brand: Brand, cadence: Cadence.default('weekly') }),
  output: 'structured',
  kind: 'writer',
  scopes: ({ brand }) =>
    brand === undefined || isUuid(brand) ? ['tracking:write'] : ['tracking:write', 'brands:read'],
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand, cadence }, context) => {
    const body = { brand_id: await brandIdOf(context, brand), cadence };
    return written(trackBrandEndpoint, { body }, context);
  },
});
