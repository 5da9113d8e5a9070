import { z } from 'zod';
import { untrackBrand as untrackBrandEndpoint } from '#operations/tracked-brands.ts';
import { tool } from '../define-tool.ts';
import { Brand, brandIdOf, isUuid, slugCost } from '../parameters.ts';
import { written } from './written.ts';

export const untrackBrand = tool({
  name: 'untrack_brand',
  title: 'Stop tracking a brand',
  description: 'Removes a brand from the tracked brands of the workspace; its changes are no longer listed.',
  input: z.strictObject({ brand: Brand }),
  output: 'structured',
  kind: 'writer',
  isDestructive: true,
  scopes: ({ brand }) =>
    brand === undefined || isUuid(brand) ? ['tracking:write'] : ['tracking:write', 'brands:read'],
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand }, context) =>
    written(
      untrackBrandEndpoint,
      { params: { brandId: await brandIdOf(context, brand) }, body: {} },
      context,
    ),
});
