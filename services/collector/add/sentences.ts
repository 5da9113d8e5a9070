import type { ArchiveAccess } from '#domain/collecting/pace.ts';

export const NO_ADS = (domain: string): string =>
  `The official library API shows no ads for ${domain}. It shows ads that were delivered in the European Union or the ` +
  'United Kingdom in the last year, and elsewhere only ads about politics. A brand that advertises in other countries ' +
  'alone, such as the United States, has no ads there; other collectors can send its scans to the intake.';

/** Shown when a page is linked but no collector reads its ads. */
export const NO_READER =
  'No collector reads ads at the library API now. Start one with COLLECT_SOURCES=storefront,site,landing_pages,ads_archive.';

/** Shown when no token is stored. */
export const NO_TOKEN =
  'No token of the official library API is stored, so ads and social pages are not read. The site, the shop and the ' +
  'landing pages of known ads are. To get a token: confirm your identity at facebook.com/ID, create an app at ' +
  'developers.facebook.com, create a token for it in the Graph API Explorer, and run: collect token set < token.txt';

/** Shown when the account makes no calls now. */
export const NO_CALLS = (access: ArchiveAccess): string =>
  access.kind === 'shut'
    ? `The library API limits the account until ${new Date(access.untilMs).toISOString()}, so pages were not searched. Repeat the command then.`
    : 'The library API refuses the token, so pages were not searched. Store another one with: collect token set < token.txt';
