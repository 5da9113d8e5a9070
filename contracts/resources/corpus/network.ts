import { z } from 'zod';
import { Count, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from './brand.ts';
import { NETWORK_BRANDS_MAX, NETWORK_LINKS_MAX, NETWORK_PAGE_BRANDS_MAX } from './social-page.ts';

export const BrandNetwork = z
  .strictObject({
    brands: z
      .array(
        z.strictObject({
          brand: BrandReference,
          linked_brands: Count.meta({ description: 'Brands of this network that share a page with it.' }),
        }),
      )
      .meta({
        description: `At most ${NETWORK_BRANDS_MAX}. Of a category, those that meet most others on pages, most linked first. Of one brand, the brand itself, then those it shares most with: a page counts the more the fewer brands share it.`,
      }),
    links: z
      .array(
        z.strictObject({
          brand_ids: z
            .array(Uuid)
            .length(2)
            .meta({ description: 'The two brand ids, sorted: a link has no direction.' }),
          shared_pages: Count,
          confidence: z.number().min(0).max(1).meta({
            description:
              'How much the shared pages say: each counts for the weaker of its two associations, divided by the number of other brands on it; together they count for the chance that not all of them are wrong.',
          }),
        }),
      )
      .meta({
        description: `Between the brands shown, most confident first, at most ${NETWORK_LINKS_MAX}. Pages of more than ${NETWORK_PAGE_BRANDS_MAX} brands link none of them.`,
      }),
    brands_with_link: Count.meta({ description: 'Brands of the whole network, including those not shown.' }),
    brands_without_link: Count.meta({
      description:
        'Public brands of the category that share no page with another; 0 in the network of one brand that has links or is not public.',
    }),
  })
  .meta({
    id: 'BrandNetwork',
    description: 'Brands that share pages: observed associations, not ownership.',
  });
