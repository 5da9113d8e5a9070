import { z } from 'zod';
import { PageRole } from '#contracts/observations/social-page-link.ts';
import { CalendarDate, Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { AdPage, PageId, PageName } from './ads/creative.ts';
import { BrandReference } from './brand.ts';

/** Pages show observed associations, not ownership. */

export const SOCIAL_PAGES_MAX = 500;
export const PROFILES_SHOWN_MAX = 5;
export const LEAKAGE_PAGES_MAX = 10;
export const REUSED_TEXTS_MAX = 12;
export const REUSE_PAGES_MAX = 5;
export const PARTNERSHIP_DAYS = 365;
export const PARTNERSHIPS_MAX = 500;
export const HUB_ROSTER_MAX = 50;
export const NETWORK_BRANDS_MAX = 100;
export const NETWORK_LINKS_MAX = 500;
export const NETWORK_PAGE_BRANDS_MAX = 100;

export const PageRoleName = PageRole.meta({
  id: 'PageRole',
  description:
    'Observed role of the page for the brand; `UNVERIFIED` when the claimed role may not be published.',
});

const Followers = Count.nullable().meta({ description: 'Followers that the page shows; null: not stated.' });
const profileShape = {
  username: z.string().nullable().meta({ description: "The name in the page's address; null: not stated." }),
  page_category: z
    .string()
    .nullable()
    .meta({ description: "The page's own category, in the network's words; null: not stated." }),
  verified: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether the network shows it as verified; null: not stated.' }),
  followers: Followers,
  likes: Count.nullable().meta({ description: 'Likes that it shows; null: not stated.' }),
} as const;

export const SocialPageProfile = z
  .strictObject({
    source: z.string().meta({ description: 'The collector that read it, or the surface that was read.' }),
    observed_at: Timestamp.meta({ description: 'When the source last stated something new.' }),
    page_name: PageName,
    ...profileShape,
  })
  .meta({ id: 'SocialPageProfile', description: 'Profile of a page by one source.' });

export const SocialPage = z
  .strictObject({
    ...AdPage.shape,
    role: PageRoleName,
    confidence: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Confidence of the link, as stated by its source.' }),
    active_ads: Count.meta({ description: "The brand's ads on the page that are not confirmed inactive." }),
    total_ads: Count.meta({ description: "The brand's ads ever seen on the page." }),
    ...profileShape,
    profiles: z.array(SocialPageProfile).meta({
      description: `Profile by source, newest first, at most ${PROFILES_SHOWN_MAX}. Each field above is the newest value of any source.`,
    }),
  })
  .meta({ id: 'SocialPage', description: 'A page linked to a brand: an observed association.' });

export const Leakage = z
  .strictObject({
    active_ads: Count.meta({ description: "All of the brand's active ads; the next four add up to it." }),
    own_page_ads: Count.meta({
      description: 'Ads on pages linked to the brand as `OFFICIAL` or `REGIONAL`.',
    }),
    third_party_ads: Count.meta({
      description: 'Ads on pages linked to the brand in any other role, or to other brands only.',
    }),
    unlinked_page_ads: Count.meta({
      description: 'Ads on named pages that are linked to no brand: their owner is unknown.',
    }),
    unnamed_page_ads: Count.meta({
      description: 'Ads whose page no source named; they count neither as own nor as foreign.',
    }),
    own_pages: Count.meta({ description: 'Own pages with active ads.' }),
    third_party_pages: Count.meta({ description: 'Pages of third parties with active ads.' }),
    unlinked_pages: Count.meta({ description: 'Pages linked to no brand with active ads.' }),
    largest_third_party_pages: z
      .array(
        z.strictObject({
          page: AdPage,
          role: PageRoleName.nullable().meta({
            description: 'Observed role of the page for the brand; null: it is linked to other brands only.',
          }),
          active_ads: Count.meta({ description: "The brand's active ads on the page." }),
        }),
      )
      .meta({ description: `Third-party pages, most active ads first, at most ${LEAKAGE_PAGES_MAX}.` }),
  })
  .meta({ id: 'Leakage', description: "Where the brand's active ads run." });

export const ReusedCopy = z
  .strictObject({
    body: z.string().meta({ description: 'The text of one of the ads.' }),
    brand_ads: Count.meta({
      description: "The brand's active ads that carry it, on linked pages or on pages no source named.",
    }),
    foreign_ads: Count.meta({ description: 'Active ads that carry it on pages not linked to the brand.' }),
    foreign_pages: Count.meta({ description: 'Pages that those ads run on.' }),
    largest_foreign_pages: z
      .array(
        z.strictObject({
          page: AdPage,
          active_ads: Count.meta({ description: 'Active ads on the page that carry the text.' }),
        }),
      )
      .meta({ description: `Those pages, most active ads first, at most ${REUSE_PAGES_MAX}.` }),
  })
  .meta({ id: 'ReusedCopy', description: 'A text that runs in and outside of the pages linked to a brand.' });

export const Partnership = z
  .strictObject({
    creator: z
      .strictObject({
        page_id: PageId.nullable().meta({
          description: "The network's id of the page; null when the library gave only its name.",
        }),
        page_name: PageName,
      })
      .meta({ description: 'The partner page.' }),
    ads: Count.meta({
      description: 'Branded-content ads within the window; the next two counts add up to it.',
    }),
    brand_page_ads: Count.meta({ description: "Ads run by the brand's page, naming the creator." }),
    creator_page_ads: Count.meta({ description: "Ads run by the creator's page." }),
    active_ads: Count.meta({ description: 'Of `ads`, those not confirmed inactive.' }),
    first_seen_on: CalendarDate.meta({ description: 'When the first of these ads was first seen.' }),
    last_seen_on: CalendarDate.meta({ description: 'When one of them was last seen.' }),
  })
  .meta({
    id: 'Partnership',
    description: 'Branded content with one creator, as shown on ads; it is no evidence of a contract.',
  });

export const Hub = z
  .strictObject({
    page: AdPage,
    followers: Followers,
    brands: Count.meta({ description: 'Public brands with active ads on the page.' }),
    active_ads: Count.meta({ description: 'Live creatives: active ads of these brands on the page.' }),
    roster: z
      .array(
        z.strictObject({
          brand: BrandReference,
          active_ads: Count.meta({ description: 'Its active ads on the page.' }),
        }),
      )
      .meta({ description: `Its brands, most active ads first, at most ${HUB_ROSTER_MAX}.` }),
  })
  .meta({ id: 'Hub', description: 'A page that runs ads for two or more brands: an observed association.' });

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
          shared_pages: Count.meta({
            description: 'Pages that run active ads of both brands, or are linked to both.',
          }),
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
