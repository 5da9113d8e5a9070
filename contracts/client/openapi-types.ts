/** Types of `contracts/openapi.json`, written by `npm run openapi`. */

export interface paths {
  "/v1/lookup": {
    /**
     * Find what a text from outside names. Finds brand, page or ad by a domain, any address, an e-mail address, an address of the ad library, the id of a page or an ad, a username such as `@name`, or the name of a brand. Tells how sure that is and why. Without a match `advice` tells what would make it known. Ads are found with the scope `ads:read` only, landing pages with `pages:read`.
     *
     * Scope: `brands:read`.
     */
    get: operations["lookUp"];
  };
  "/v1/system/freshness": {
    /**
     * Read the freshness of the corpus. Counts of ads and brands, the time of the last scan, and how many brands of each category were scanned lately.
     *
     * Scope: `system:read`.
     */
    get: operations["getSystemFreshness"];
  };
  "/v1/brand-network": {
    /**
     * Read a network of brands. Brands that share pages, by ads or by links: those around one brand (itself and its direct neighbours), or those of one category. Give either `brand_id` or `category_id`. Sharing a page is an observed association, not ownership.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandNetwork"];
  };
  "/v1/brand-thumbs": {
    /**
     * Read thumbnails of brands. For each requested brand, in the order of their ids, up to four newest live creatives with a stored image or poster. The reply has every requested brand; an empty list means that none is stored.
     *
     * Scope: `brands:read`.
     */
    get: operations["listBrandThumbs"];
  };
  "/v1/brands": {
    /**
     * List brands. Public brands. A brand that is absent from the service is not evidence that it runs no ads.
     *
     * Scope: `brands:read`.
     */
    get: operations["listBrands"];
  };
  "/v1/brands/sitemap": {
    /**
     * List indexable brand pages. Addresses of the brand pages that search engines may index.
     *
     * Scope: `brands:read`.
     */
    get: operations["listBrandSitemap"];
  };
  "/v1/brands/{brandId}": {
    /**
     * Read one brand. One brand by uuid or slug. `meta.freshness` says when it was last scanned and when it is next due.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrand"];
  };
  "/v1/brands/{brandId}/bounds": {
    /**
     * Read the bounds of a figure. What the true figure is at least and at most, why, and which complete scans would narrow it. The bounds are about the pages linked to the brand now, in the countries that scans of the last 28 days asked for, and about ads that scans showed elsewhere. `active_ads` are bounded for the UTC day of the newest scan, `new_ads` and `retired_ads` as complete scans of every day would count them. Start dates are those of the library.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandBounds"];
  };
  "/v1/brands/{brandId}/breakdown": {
    /**
     * Read the format breakdown. Active ads by creative format.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandBreakdown"];
  };
  "/v1/brands/{brandId}/changes": {
    /**
     * List what changed between two moments. The differences between the answers of two past moments, field by field, with the events that were recorded between them: of the brand, of each day of its activity, and of each of its ads. Times of sightings and ages, which grow with each scan, are left out. At most 20,000 events of a brand may lie between the moments; send `since` and an earlier `until` when there are more. To follow changes, read all pages and send the header `x-next-since-token` of the last one as `since_token` of the next call: each change is then listed once, also what was being recorded during a call.
     *
     * Scope: `ads:read`.
     */
    get: operations["listBrandChanges"];
  };
  "/v1/brands/{brandId}/copy-reuse": {
    /**
     * Read which of a brand's texts run elsewhere. Ad texts of the brand that pages not linked to it run too, most foreign ads first, at most twelve. Texts are equal when they have the same words in the same order; catalogue templates do not count. The figures do not say who wrote a text first.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandCopyReuse"];
  };
  "/v1/brands/{brandId}/coverage": {
    /**
     * Read what was observed of a brand, and what was not. The linked pages with the complete scans that covered them last, the reliable days, the newest observation of each source, and the scans that left ads out. Ask it when a list about the brand is empty: an empty list says that nothing was observed, not that there is nothing. Such lists name this address in the header `link`.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandCoverage"];
  };
  "/v1/brands/{brandId}/creative-library": {
    /**
     * Read a brand's creative library. A sample of active ads with stored media, half of them the longest-running and half the newest, and totals of format, call to action and longevity over all active ads. Longevity is observed survival, not performance.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandCreativeLibrary"];
  };
  "/v1/brands/{brandId}/daily-activity": {
    /**
     * Read daily activity. Active, new and retired ads of each observed day, oldest first. Days never observed are absent, not zero; unreliable days carry `reliable: false`.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandDailyActivity"];
  };
  "/v1/brands/{brandId}/demographics": {
    /**
     * Read the demographics of visitors. Shares of the visitors of the brand's site by sex and age, as a traffic provider estimates them; null when it states none.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandDemographics"];
  };
  "/v1/brands/{brandId}/leakage": {
    /**
     * Read where a brand's ads run outside its own pages. Counts of the active ads of the brand by the page that runs them: totals over all pages, and the ten largest pages of third parties. A page is its own when it is linked to the brand as `OFFICIAL` or `REGIONAL`. It is a third party's when it is linked to the brand in another role, or to other brands only. A page linked to no brand is counted as unlinked, never as a third party's.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandLeakage"];
  };
  "/v1/brands/{brandId}/operators": {
    /**
     * List the operators of a brand. Companies observed with the domain of the brand, most domains and pages first, each with its other public brands.
     *
     * Scope: `operators:read`.
     */
    get: operations["listBrandOperators"];
  };
  "/v1/brands/{brandId}/partnerships": {
    /**
     * List a brand's branded-content creators. Creators who ran branded content with the brand in the 365 days before `meta.as_of`, most ads first. Counts ads of the brand that name the creator and ads of the creator that name the brand. Ads are no evidence of a contract.
     *
     * Scope: `brands:read`.
     */
    get: operations["listBrandPartnerships"];
  };
  "/v1/brands/{brandId}/proof": {
    /**
     * Read the proof of a figure. A figure as known at a moment, its rule, and a link to a bundle of every event that it rests on. Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandProof"];
  };
  "/v1/brands/{brandId}/similar": {
    /**
     * List similar sites. Sites with similar visitors, by affinity, as a traffic provider estimates. A site of a public brand shows that brand.
     *
     * Scope: `brands:read`.
     */
    get: operations["listSimilarSites"];
  };
  "/v1/brands/{brandId}/social-pages": {
    /**
     * List the social pages of a brand. Pages linked to the brand, most active ads first. Withheld links are left out; the role is `UNVERIFIED` when the claimed one may not be published. Links are observed associations, never ownership.
     *
     * Scope: `brands:read`.
     */
    get: operations["listBrandSocialPages"];
  };
  "/v1/brands/{brandId}/split-tests": {
    /**
     * Read the split tests. Testing tools installed on the brand's site and every test read on them: type, state and its basis, arms with configured allocations, the pages acted on with the brand's active ads there, and what tests of the category vary. It never says which arm did better, and no price or shipping amount is served. Null means not read, never none.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandSplitTests"];
  };
  "/v1/brands/{brandId}/store": {
    /**
     * Read the public storefront. The brand's public storefront catalogue as last collected: what the latest scan covered, products with variants, listed prices and the published available flag, and twelve weeks of observed changes. A shop that no scan has shown is `not_collected`, never an empty catalogue. A product is delisted when two complete scans at least 20 hours apart miss it; an empty answer is a failed fetch.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandStore"];
  };
  "/v1/brands/{brandId}/tech-stack": {
    /**
     * Read the tech stack. Tools detected on the brand's site, by tool category, then name. Detection can be wrong, and a site that was never scanned shows none. A tool is gone when two complete scans at least 20 hours apart miss it.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandTechStack"];
  };
  "/v1/brands/{brandId}/trajectory": {
    /**
     * Read the traffic trajectory. Visits and rankings of the brand's site as a traffic provider estimates them, oldest first; at most the newest 800 points. Months never estimated are absent, not zero.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandTrajectory"];
  };
  "/v1/brands/{brandId}/velocity": {
    /**
     * Read weekly velocity. One item for every ISO week that has an observed day, oldest first. `new_ads` and `retired_ads` sum reliable days only. Shade a week with `reliable_days` 0 as unreliable.
     *
     * Scope: `brands:read`.
     */
    get: operations["getBrandVelocity"];
  };
  "/v1/claims/check": {
    /**
     * Check a claim about a brand. Tells whether what was observed supports a claim about a figure, contradicts it, or decides neither. Ask before a figure is stated. `supported` means that every number within the bounds of the figure satisfies the claim, `contradicted` that none does; the bounds are those of `GET /v1/brands/{brandId}/bounds`. Reads only: the request changes nothing and records nothing.
     *
     * Scope: `brands:read`.
     */
    post: operations["checkClaim"];
  };
  "/v1/categories": {
    /**
     * List categories. Top-level categories, or the children of one parent, by name. With `slug`, categories of any level that carry it.
     *
     * Scope: `categories:read`.
     */
    get: operations["listCategories"];
  };
  "/v1/categories/sitemap": {
    /**
     * List category pages. Addresses of the categories of every level that hold a public brand.
     *
     * Scope: `categories:read`.
     */
    get: operations["listCategorySitemap"];
  };
  "/v1/categories/{categoryId}": {
    /**
     * Read one category. A category of any level with its parent and totals over its public brands.
     *
     * Scope: `categories:read`.
     */
    get: operations["getCategory"];
  };
  "/v1/categories/{categoryId}/stats": {
    /**
     * Read the stats of a category. Figures of a category of any level: its public brands, their landing pages by type, their estimated visits, and the tools most often detected on their sites. Classification is automated and can be wrong.
     *
     * Scope: `categories:read`.
     */
    get: operations["getCategoryStats"];
  };
  "/v1/ads": {
    /**
     * Search ads. Ads by copy, format, status and country, newest start first. Without `brand_id` only ads started in the last 90 days are searched. An ad without a known start is sorted by its first sighting. In a process, at most two searches of a workspace run at once (one on a machine of two processors), and 8 more wait for up to 2 s; beyond that 503 with `retry-after`.
     *
     * Scope: `ads:read`.
     */
    get: operations["searchAds"];
  };
  "/v1/ads/{adId}": {
    /**
     * Read one ad. One ad with its full copy, archived media, observation window and what was observed to change.
     *
     * Scope: `ads:read`.
     */
    get: operations["getAd"];
  };
  "/v1/ads/{adId}/proof": {
    /**
     * Read the proof of an ad. A link to one HTML file of the ad: what was observed and when, its archived picture, the events that say so, and the path from their streams to the signed digest. A file of many events has those that do not name the ad by their hashes only. Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.
     *
     * Scope: `ads:read`.
     */
    get: operations["getAdProof"];
  };
  "/v1/brands/{brandId}/ads": {
    /**
     * List a brand's ads. The ads attributed to the brand, newest start first.
     *
     * Scope: `ads:read`.
     */
    get: operations["listBrandAds"];
  };
  "/v1/brands/{brandId}/ads/search": {
    /**
     * Search a brand's ads. The ads attributed to the brand by platform, page, call to action, language, status, and the days on which they started or were confirmed inactive. `sort=longest_running` puts most `days_active` first: observed survival, not performance. An ad that was not seen is `missing`, and not confirmed inactive. Ages grow with each scan, so a scan while pages are read may show an ad twice.
     *
     * Scope: `ads:read`.
     */
    get: operations["searchBrandAds"];
  };
  "/v1/ads/{adId}/creatives": {
    /**
     * List an ad's archived creatives. Every archived creative asset of one ad; an empty list means that none is stored.
     *
     * Scope: `creatives:read`.
     */
    get: operations["listAdCreatives"];
  };
  "/v1/creative-coverage": {
    /**
     * Read how many creatives were analysed. Counts of a brand's creative files that were measured, transcribed and described, with the values of each closed field over described files. Without `brand_id`: the files of all public brands, each file once.
     *
     * Scope: `creatives:read`.
     */
    get: operations["getCreativeCoverage"];
  };
  "/v1/creative-records": {
    /**
     * Search creative records. Creative files, one record each, by brand, analysis depth, media kind, values of closed fields, words said or shown on screen, and numbers; most live ads first. Counts are ads carrying a file, never spend.
     *
     * Scope: `creatives:read`.
     */
    get: operations["searchCreativeRecords"];
  };
  "/v1/creative-records/{creativeKey}": {
    /**
     * Read one creative record. One creative file by its key, or by a prefix of at least ten characters: media facts with frame times, transcript with corrections, classification, and the brands and ads that carry it. A prefix of several keys is a conflict.
     *
     * Scope: `creatives:read`.
     */
    get: operations["getCreativeRecord"];
  };
  "/v1/creatives": {
    /**
     * List archived creatives. Archived creative assets of one ad, or of a brand's attributed ads, those of the newest ads first. Exactly one of `ad_id` and `brand_id` is required.
     *
     * Scope: `creatives:read`.
     */
    get: operations["listCreatives"];
  };
  "/v1/creatives/{creativeId}": {
    /**
     * Read one archived creative. One creative asset: a file in one ad. Records also name assets whose file is not stored; their `media_url` is null.
     *
     * Scope: `creatives:read`.
     */
    get: operations["getCreative"];
  };
  "/v1/page-details": {
    /**
     * Read several landing pages. Up to 100 landing pages by id, in the order of their ids. Unknown ids, and ids of pages without a public brand, are left out.
     *
     * Scope: `pages:read`.
     */
    get: operations["listPageDetails"];
  };
  "/v1/pages": {
    /**
     * List landing pages. Live landing pages of public US ecommerce brands on hosts they own, newest first. With `brand_id` or `category_id`: every live page of that brand or category, of any country and on any host. A page is live until a visit finds it gone.
     *
     * Scope: `pages:read`.
     */
    get: operations["listPages"];
  };
  "/v1/pages/{pageId}": {
    /**
     * Read one landing page. One landing page with its scraped and classified fields, and the brands whose ads lead to it.
     *
     * Scope: `pages:read`.
     */
    get: operations["getPage"];
  };
  "/v1/rankings": {
    /**
     * List the most visited brands of a country. Public brands with this top traffic country, by monthly visits, most first. Visits and countries are estimates of a traffic provider; brands without estimates are left out.
     *
     * Scope: `rankings:read`.
     */
    get: operations["listRanking"];
  };
  "/v1/rankings/new-advertisers": {
    /**
     * List brands that started to advertise. Brands known to the service before the window whose first attributed ad started in the last `days` days, most active first. Rewritten nightly, at `meta.as_of`.
     *
     * Scope: `rankings:read`.
     */
    get: operations["listNewAdvertisers"];
  };
  "/v1/rankings/risers": {
    /**
     * List the brands that grew most. Brands whose active ads grew most between a reliable day in the last week and one 7 to 28 days earlier.
     *
     * Scope: `rankings:read`.
     */
    get: operations["listRisers"];
  };
  "/v1/split-test-census": {
    /**
     * Read the census of split testing. Counts for every split-testing tool: public brands with it, brands whose tool was read, and brands that run at least one experiment. Personalizations and rollouts are not counted. Null means not read, never zero.
     *
     * Scope: `tools:read`.
     */
    get: operations["getSplitTestCensus"];
  };
  "/v1/tools": {
    /**
     * List tools. Tools detected on public brands' sites, most adopted first.
     *
     * Scope: `tools:read`.
     */
    get: operations["listTools"];
  };
  "/v1/tools/{toolSlug}": {
    /**
     * Read a tool. One tool with its adoption by category, the tools most often found with it, and the brands that have it by estimated traffic. All counts are of public brands.
     *
     * Scope: `tools:read`.
     */
    get: operations["getTool"];
  };
  "/v1/tools/{toolSlug}/brands": {
    /**
     * List the brands that have a tool. Public brands with the tool on their sites, by estimated monthly visits; brands without an estimate come last.
     *
     * Scope: `tools:read`.
     */
    get: operations["listToolBrands"];
  };
  "/v1/audience/{segment}": {
    /**
     * List brands by their audience. Public brands with visitors in the segment, by monthly visits, most first. Shares of visitors are estimates of a traffic provider. Segments: `majority-female` (more than half are women), `majority-male` (more than half are men), `gen-z` (at least a quarter are 18 to 24), `millennial` (at least half are 25 to 44 years old), `gen-x` (at least 35 % are 45 to 64), `senior` (at least 15 % are 65 or older), `under-35` (at least half are 18 to 34), `over-45` (at least half are 45 or older). A brand may be in several.
     *
     * Scope: `audience:read`.
     */
    get: operations["listAudience"];
  };
  "/v1/hubs": {
    /**
     * List hubs. Social pages that run active ads for two or more public brands, most brands first. Running the ads of a brand is an observed association, not a contract.
     *
     * Scope: `operators:read`.
     */
    get: operations["listHubs"];
  };
  "/v1/operators": {
    /**
     * List operators. Companies observed with several domains or pages, most domains and pages first.
     *
     * Scope: `operators:read`.
     */
    get: operations["listOperators"];
  };
  "/v1/operators/{operatorId}": {
    /**
     * Read one operator. One company with the public brands, domains and pages it was observed with, and the sources of each association.
     *
     * Scope: `operators:read`.
     */
    get: operations["getOperator"];
  };
  "/v1/workspaces/{ws}/brand-requests": {
    /**
     * List brand requests. The requests of the workspace for brands, newest first.
     *
     * Scope: `tracking:read`.
     */
    get: operations["listBrandRequests"];
    /**
     * Request a brand. Asks for a brand that the service does not know, by its domain. The request is accepted at once while the plan's allowance of requests that are being collected lasts: free 1, pro 5, business 25, enterprise 100. Others wait for an operator. It is `ready` as soon as the brand is observed; with `track` the workspace then tracks it, if a slot is free. A domain that the workspace requested before gets the first request, unchanged. 409 for a domain whose brand is known, with its address and id; when 100 requests are open; or when the workspace has made 10000.
     *
     * Scope: `tracking:write`.
     */
    post: operations["requestBrand"];
  };
  "/v1/workspaces/{ws}/brand-requests/{requestId}": {
    /**
     * Read a brand request. One request for a brand, with its status.
     *
     * Scope: `tracking:read`.
     */
    get: operations["getBrandRequest"];
  };
  "/v1/workspaces/{ws}/changes": {
    /**
     * List what changed at tracked brands between two moments. The changes of each brand that the workspace tracked at the later moment, as the list of one brand has them, by the ids of the brands. A page ends after 250 brands, 16 of which something was recorded, or 50,000 events; it can have fewer items than `limit`, or none, and the list goes on while there is a cursor. At most 20,000 events of a brand may lie between the moments; send `since` and an earlier `until` when there are more. A brand that was tracked after the last call is listed with its changes since that call. To follow changes, read all pages and send the header `x-next-since-token` of the last one as `since_token` of the next call: each change is then listed once, also what was being recorded during a call.
     *
     * Scope: `ads:read`.
     */
    get: operations["listWorkspaceChanges"];
  };
  "/v1/workspaces/{ws}/tracked-brands": {
    /**
     * List tracked brands. The brands the workspace tracks, newest first.
     *
     * Scope: `brands:read`.
     */
    get: operations["listTrackedBrands"];
    /**
     * Track a brand. Tracks a brand; tracking it again changes the cadence only. The scraper is notified asynchronously. 402 when all slots of the plan are used: free 5, pro 50, business 500, enterprise 5000.
     *
     * Scope: `tracking:write`.
     */
    post: operations["trackBrand"];
  };
  "/v1/workspaces/{ws}/tracked-brands/bulk": {
    /**
     * Track several brands. Tracks up to 100 brands, each as a request of its own would, in their order, and tells the result of each. A brand that is unknown, or for which the plan has no slot, changes nothing for the others. The changes are recorded all at once, so a request that fails has made all of them or none. Repeat it with the same `Idempotency-Key`: what it has tracked is then `already_tracked`.
     *
     * Scope: `tracking:write`.
     */
    post: operations["trackBrands"];
  };
  "/v1/workspaces/{ws}/tracked-brands/freshness": {
    /**
     * List the freshness of tracked brands. Hours since the last reliable scan of each tracked brand, and the hours that its cadence allows, most overdue first.
     *
     * Scope: `brands:read`.
     */
    get: operations["listTrackedBrandsFreshness"];
  };
  "/v1/workspaces/{ws}/tracked-brands/{brandId}": {
    /**
     * Stop tracking a brand. Takes an empty object as body. `removed` is false when the brand was not tracked.
     *
     * Scope: `tracking:write`.
     */
    delete: operations["untrackBrand"];
  };
  "/v1/workspaces/{ws}/radar": {
    /**
     * List observed changes. Ads started, ads confirmed inactive and changed destinations at tracked brands in the last `days` days, newest first. The window of a brand has UTC days and ends with the day of its last scan. Says what changed, not why.
     *
     * Scope: `tracking:read`.
     */
    get: operations["listRadar"];
  };
  "/v1/workspaces/{ws}/radar/signals": {
    /**
     * List signals. What changed at tracked brands in the last `days` days, grouped by brand, day and kind, newest first: one signal each, with links to the items behind it. The window of a brand has UTC days and ends with the day of its last scan. Says what changed, not why. Only figures of reliable days are compared. A lasting change is reported once, on the first reliable day that shows it. What a scan that arrived late corrected is marked, and a withdrawn signal stays listed.
     *
     * | kind | from where on |
     * |---|---|
     * | `ads_started`, `ads_stopped`, `destinations_changed` | one item of the radar that day |
     * | `ramp` | active ads up by 50 % and by 10 on the reliable day 7 days before |
     * | `drop` | active ads down by 40 % and by 10 on the reliable day 7 days before |
     * | `launch_burst` | 10 ads started, and 3 times the mean of the reliable days of the 28 days before |
     * | `sale` | 3 ads with sale copy started on a reliable day, or 10 % of a wholly read catalogue cheaper than at the scan before |
     * | `new_landing_page` | an ad that is news, or a changed link, leads to a page that none of the brand's ads led to |
     * | `new_linked_page` | a page observed to belong with the brand, after the first day of such observations |
     * | `new_whitelisting_pair` | a new ad on a page that ran none of the brand's, and is a creator's, a partner's or not linked |
     * | `format_mix_shift` | a format's share of active ads moved by 20 points in 28 days, with 20 active ads on both reliable days |
     * | `long_runner_refreshed` | copy or link changed 60 days or more after the ad's start |
     *
     *
     * Scope: `tracking:read`.
     */
    get: operations["listSignals"];
  };
  "/v1/workspaces/{ws}/radar/{itemId}/proof": {
    /**
     * Read the proof of a radar item. An item as the radar told it at a moment, its rule, and a link to a bundle of every event of the brands that it rests on. The bundle has no stream of a workspace. Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.
     *
     * Scope: `tracking:read`.
     */
    get: operations["getRadarItemProof"];
  };
  "/v1/workspaces/{ws}/tracked-brands/{brandId}/signals": {
    /**
     * List the signals of a tracked brand. Signals of one tracked brand as `GET /v1/workspaces/{ws}/radar/signals` shows them, newest first, from its first scan on or within times of observation. 404 when the workspace does not track the brand.
     *
     * Scope: `tracking:read`.
     */
    get: operations["listBrandSignals"];
  };
  "/v1/workspaces/{ws}/alert-deliveries": {
    /**
     * List alert deliveries. Deliveries of all rules, queued ones included, newest first, each with its attempts. Deleting a rule deletes its history.
     *
     * Scope: `alerts:read`.
     */
    get: operations["listAlertDeliveries"];
  };
  "/v1/workspaces/{ws}/alert-deliveries/redeliver": {
    /**
     * Send failed deliveries again. Sends the deliveries again that were given up since a time, those given up first before others, at most 1000 per request. Each is sent as a single one is: same bytes, same `webhook-id`. Tests are left out.
     *
     * Scope: `alerts:write`.
     */
    post: operations["redeliverFailed"];
  };
  "/v1/workspaces/{ws}/alert-deliveries/search": {
    /**
     * Search alert deliveries. Deliveries by status, channel, rule and the time at which they were queued, newest first. A delivery that is sent again keeps that time, and is `queued` until its next attempt.
     *
     * Scope: `alerts:read`.
     */
    get: operations["searchAlertDeliveries"];
  };
  "/v1/workspaces/{ws}/alert-deliveries/{deliveryId}/proof": {
    /**
     * Read why a delivery was sent. The delivery, which event met which condition of its rule, and a link to a bundle of every event that it rests on: of the rule, its deliveries, the brands that the workspace tracks, and of the brands themselves. The bundle has the whole history of the rule, its addresses included, and which brands were tracked: keep the link. The key needs the scope `tracking:read` too. Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.
     *
     * Scope: `alerts:read`.
     */
    get: operations["getDeliveryProof"];
  };
  "/v1/workspaces/{ws}/alert-deliveries/{deliveryId}/redeliver": {
    /**
     * Send a delivery again. Takes an empty object as body. Starts a new round of attempts of a delivery that was delivered, failed or cancelled, with the same bytes and the same `webhook-id`, to the present address of the rule. 409 while it is still being sent, when its rule is off, when its channel was removed or is suspended, for a test, and 30 days after its end.
     *
     * Scope: `alerts:write`.
     */
    post: operations["redeliver"];
  };
  "/v1/workspaces/{ws}/alerts": {
    /**
     * List alert rules. The rules of the workspace, newest first. Signing secrets and addresses of chat tools are left out.
     *
     * Scope: `alerts:read`.
     */
    get: operations["listAlerts"];
    /**
     * Create an alert rule. Creates a rule on tracked brands; 400 names brands that are not tracked. The first rule with a webhook creates the signing secret of the workspace, which only this reply shows. 409 when the workspace has 200 rules.
     *
     * Scope: `alerts:write`.
     */
    post: operations["createAlert"];
  };
  "/v1/workspaces/{ws}/alerts/backtest": {
    /**
     * Test what an alert rule would have sent. Takes the body of a new rule, creates nothing and sends nothing. Tells what the rule would have sent in the last 90 days, had it existed then and had its receivers accepted each delivery at once. A brand counts from before it was tracked, but not while it was untracked. 400 when the body would be refused for a rule, and when the brands have more than 20,000 events that matter.
     *
     * Scope: `alerts:read`.
     */
    post: operations["backtestAlert"];
  };
  "/v1/workspaces/{ws}/alerts/webhook-secret": {
    /**
     * Create or rotate the webhook signing secret. Takes an empty object as body. Only this reply shows the secret. From then on the previous secret signs nothing, not even retries of earlier deliveries.
     *
     * Scope: `alerts:write`.
     */
    post: operations["issueWebhookSecret"];
  };
  "/v1/workspaces/{ws}/alerts/{alertId}": {
    /**
     * Change an alert rule. Properties that are absent stay unchanged; `webhook_url: null` removes the webhook. 400 when no channel would remain, or when `brand_ids` names an untracked brand. Deliveries queued for a removed channel are cancelled. Sending the address of a suspended channel, a new one or the same, ends its suspension; `enabled: true` ends all of them.
     *
     * Scope: `alerts:write`.
     */
    patch: operations["changeAlert"];
    /**
     * Delete an alert rule and its delivery history. Takes an empty object as body. Queued deliveries are cancelled. `removed` is false when no such rule existed.
     *
     * Scope: `alerts:write`.
     */
    delete: operations["deleteAlert"];
  };
  "/v1/workspaces/{ws}/alerts/{alertId}/test": {
    /**
     * Send a sample of an alert now. Takes an empty object as body. Sends one sample on each channel of the rule and returns the results. Includes suspended channels and works for a disabled rule. A failed sample is not retried. The samples are listed among the deliveries, with the kind `test`. 409 after 30 tests of the workspace in a minute.
     *
     * Scope: `alerts:write`.
     */
    post: operations["testAlert"];
  };
  "/v1/workspaces/{ws}/briefs": {
    /**
     * List weekly briefs. The weekly briefs of the workspace with their radar change counts, newest period first. A brief is prepared on the Monday after its week, at 06:00 UTC, if any brand was tracked.
     *
     * Scope: `briefs:read`.
     */
    get: operations["listBriefs"];
  };
  "/v1/workspaces/{ws}/briefs/{briefId}": {
    /**
     * Read a weekly brief. Change counts per tracked brand and up to ten notable radar items of one week. When a late scan changed counts afterwards, the header `link` names the restatements.
     *
     * Scope: `briefs:read`.
     */
    get: operations["getBrief"];
    /**
     * Say how good a weekly brief was. Records useful, already known or wrong; null clears it.
     *
     * Scope: `briefs:write`.
     */
    patch: operations["giveBriefFeedback"];
  };
  "/v1/workspaces/{ws}/reports": {
    /**
     * List reports. The reports of the workspace, newest first, each with its download URL once it is ready.
     *
     * Scope: `reports:read`.
     */
    get: operations["listReports"];
    /**
     * Request a report. Queues a CSV export of the radar (ads started, ads stopped, link changes) for tracked brands over up to 31 days. Read the report until it is ready; cells that a spreadsheet would take for a formula begin with an apostrophe. 409 when 50 reports of the workspace are queued or running, 500 were requested within 24 hours, or it has 20000 reports.
     *
     * Scope: `reports:write`.
     */
    post: operations["requestReport"];
  };
  "/v1/workspaces/{ws}/reports/{reportId}": {
    /**
     * Read a report. One report. `download_url` is set once the report is ready; each read signs a new one. When a late scan changed rows afterwards, the header `link` names the restatements.
     *
     * Scope: `reports:read`.
     */
    get: operations["getReport"];
  };
  "/v1/workspaces/{ws}/restatements": {
    /**
     * List what late scans changed in delivered briefs and reports. The rows of delivered briefs and reports that differ from the radar, with the events that changed them, newest first. Each night the documents of the last 35 days are compared; a difference is listed once, because a restatement compares with the document and its earlier restatements. The documents themselves stay as they were. A key with `briefs:read` gets those of briefs, one with `reports:read` those of reports. A restated document names this address in the header `link`.
     *
     * Scope: `reports:read` or `briefs:read`.
     */
    get: operations["listRestatements"];
  };
  "/v1/workspaces/{ws}/collections": {
    /**
     * List collections. The collections that the caller sees, with their newest 100 items, most recently changed first. A collection that changes while pages are read moves to the first page. Private collections are shown to their creator and editors only.
     *
     * Scope: `collections:read`.
     */
    get: operations["listCollections"];
    /**
     * Create a collection. Creates a collection at the top level or inside another one, optionally with a first item. 404 when the caller does not see the parent. 409 when the workspace has 1000 collections, or for one more than 8 levels deep.
     *
     * Scope: `collections:write`.
     */
    post: operations["createCollection"];
  };
  "/v1/workspaces/{ws}/collections/{collectionId}": {
    /**
     * Change a collection. Changes name, description, parent, `visibility` or `editors`; absent properties stay unchanged. Every member who sees a collection may change it. Only its creator, and admins and owners who see it, may change `visibility` and `editors` (403 otherwise). 404 when the caller does not see the collection or the new parent. 409 when it would be inside itself, nested more than 8 levels deep, or hidden from the caller.
     *
     * Scope: `collections:write`.
     */
    patch: operations["changeCollection"];
    /**
     * Delete a collection and every collection inside it. Takes an empty object as body. Deletes everything inside too, including private collections of other members. `removed` is false when it was already deleted; 404 when the caller never saw such a collection, or so many were deleted since that this one is forgotten (500 or more).
     *
     * Scope: `collections:write`.
     */
    delete: operations["deleteCollection"];
  };
  "/v1/workspaces/{ws}/collections/{collectionId}/items": {
    /**
     * List the items of a collection. All items of a collection, newest first; a collection itself shows its newest 100. With `include=record` each has the thing itself, as far as the key may read things of its type (`ads:read`, `brands:read`, `creatives:read`, `pages:read`). 404 when the caller does not see the collection.
     *
     * Scope: `collections:read`.
     */
    get: operations["listCollectionItems"];
    /**
     * Add an item to a collection. Adding an existing item changes nothing and returns it. The service need not know the object. 409 when the collection has 1000 items.
     *
     * Scope: `collections:write`.
     */
    post: operations["addCollectionItem"];
  };
  "/v1/workspaces/{ws}/collections/{collectionId}/items/{itemType}/{itemKey}": {
    /**
     * Remove an item from a collection. Takes an empty object as body. `removed` is false when the item was not there.
     *
     * Scope: `collections:write`.
     */
    delete: operations["removeCollectionItem"];
  };
  "/v1/workspaces/{ws}/saved": {
    /**
     * List saved items. Items that members of the workspace have saved, newest first.
     *
     * Scope: `collections:read`.
     */
    get: operations["listSavedItems"];
    /**
     * Save an item. Saves an item for the whole workspace. Saving it again changes nothing and returns the saved item. The service need not know the object. 409 when the workspace has saved 10000 items.
     *
     * Scope: `collections:write`.
     */
    post: operations["saveItem"];
  };
  "/v1/workspaces/{ws}/saved/{itemType}/{itemKey}": {
    /**
     * Unsave an item. Takes an empty object as body. `removed` is false when the item was not saved.
     *
     * Scope: `collections:write`.
     */
    delete: operations["unsaveItem"];
  };
  "/v1/workspaces/{ws}/notes": {
    /**
     * List notes. The notes of all members, most recently edited first. A note that is edited while pages are read moves to the first page. Notes on a collection are shown only to members who see the collection.
     *
     * Scope: `notes:read`.
     */
    get: operations["listNotes"];
    /**
     * Write the caller's note on a subject. Creates or replaces the one note of the caller on a subject; a replaced note keeps its id. The same text again changes nothing. 404 for a collection that the caller does not see. The service need not know any other subject. 409 for a new note when the workspace has 10000.
     *
     * Scope: `notes:write`.
     */
    post: operations["writeNote"];
  };
  "/v1/workspaces/{ws}/notes/{noteId}": {
    /**
     * Delete a note. Takes an empty object as body. `removed` is false when no such note existed. Members delete their own notes; admins and owners delete any note that they can read; otherwise 403.
     *
     * Scope: `notes:write`.
     */
    delete: operations["deleteNote"];
  };
  "/v1/me": {
    /**
     * Read who is calling. The caller's workspace, role, plan and granted scopes.
     *
     * Scope: `me:read`.
     */
    get: operations["getMe"];
  };
  "/v1/workspaces/{ws}/members": {
    /**
     * List members. The workspace's members in the order in which they were added. Other replies name members by their ids. An erased member stays listed, without a name.
     *
     * Scope: `me:read`.
     */
    get: operations["listMembers"];
  };
  "/v1/workspaces/{ws}/api-keys": {
    /**
     * List API keys. The workspace's keys, newest first, revoked ones included. The keys themselves are never shown.
     *
     * Scope: `apiKeys:read`.
     */
    get: operations["listApiKeys"];
    /**
     * Create an API key. Only this reply shows the key itself. It belongs to the member of the calling key; scopes beyond the caller's are refused with 403. 409 when the workspace has 200 active keys.
     *
     * Scope: `apiKeys:write`.
     */
    post: operations["createApiKey"];
  };
  "/v1/workspaces/{ws}/api-keys/revoke-unused": {
    /**
     * Revoke unused API keys. Revokes every active key that no request has used for the given number of days; a key that was never used counts from its creation. This request is a use of the calling key.
     *
     * Scope: `apiKeys:write`.
     */
    post: operations["revokeUnusedApiKeys"];
  };
  "/v1/workspaces/{ws}/api-keys/{keyId}": {
    /**
     * Revoke an API key. The next request with the key is refused with 401. Takes an empty object as body. `removed` is false when the workspace had no such active key. The calling key may revoke itself.
     *
     * Scope: `apiKeys:write`.
     */
    delete: operations["revokeApiKey"];
  };
  "/v1/workspaces/{ws}/api-keys/{keyId}/rotate": {
    /**
     * Rotate an API key. Revokes a key and issues a replacement with the same name and scopes, which only this reply shows. Takes an empty object as body. The replacement belongs to the member of the calling key; a key with scopes beyond the caller's is refused with 403, a revoked one with 409.
     *
     * Scope: `apiKeys:write`.
     */
    post: operations["rotateApiKey"];
  };
}

export interface operations {
  lookUp: {
    parameters: {
      path?: never;
      query: {
        /** The text, such as `shop.example` or `https://shop.example/boots`. */
        q: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Lookup"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getSystemFreshness: {
    parameters: {
      path?: never;
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["SystemFreshness"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandNetwork: {
    parameters: {
      path?: never;
      query?: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brand_id?: string;
        /** Network of the public brands of this category, of any level. */
        category_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BrandNetwork"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandThumbs: {
    parameters: {
      path?: never;
      query: {
        /** Uuids of brands, separated by commas. */
        brand_ids: Array<string>;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BrandThumbs"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrands: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only brands of this category, of any level. */
        category_id?: string;
        /** Only brands based in this country, ISO 3166-1 alpha-2. */
        country?: string;
        /** Part of the name, in upper or lower case. */
        q?: string;
        /** First letter of the name. */
        letter?: string;
        /** Most first; names from a to z. */
        sort?: "active_ads" | "new_ads_7d" | "name";
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BrandSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandSitemap: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only brands of this category, of any level. */
        category_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BrandSitemapEntry"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrand: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Brand"];
            meta: components["schemas"]["BrandMeta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandBounds: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query: {
        /** Name of a figure. */
        figure: components["schemas"]["FigureName"];
        /** First UTC day, for `new_ads` and `retired_ads`. Between 2000-01-01 and 2999-12-31. */
        from?: string;
        /** Last UTC day, for `new_ads` and `retired_ads`: at most 366 days, none after today. Between 2000-01-01 and 2999-12-31. */
        to?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["FigureBounds"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandBreakdown: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["FormatBreakdown"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandChanges: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** The earlier moment, such as `2026-11-01T00:00:00Z`. Required without `since_token`: send one of the two. */
        since?: string;
        /** `x-next-since-token` of the last page of an earlier call: the changes after that call. Takes no `until`. */
        since_token?: string;
        /** The later moment. Now when absent. */
        until?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BrandChange"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandCopyReuse: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["ReusedCopy"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandCoverage: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BrandCoverage"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandCreativeLibrary: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** Maximum ads of both halves together; the reply repeats it as `sample_cap`. */
        sample?: number;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["CreativeLibrary"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandDailyActivity: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
        /** First day. 366 days before `to` when absent. Between 2000-01-01 and 2999-12-31. */
        from?: string;
        /** Last day. Open when absent. Between 2000-01-01 and 2999-12-31. */
        to?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["DailyActivity"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandDemographics: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Demographics"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandLeakage: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Leakage"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandOperators: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["OperatorOfBrand"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandPartnerships: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Partnership"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandProof: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query: {
        /** Name of a figure. */
        figure: components["schemas"]["FigureName"];
        /** First UTC day, for `new_ads` and `retired_ads`. Between 2000-01-01 and 2999-12-31. */
        from?: string;
        /** Last UTC day, for `new_ads` and `retired_ads`: at most 366 days, none after today. Between 2000-01-01 and 2999-12-31. */
        to?: string;
        /** The moment: events recorded by then count. Now when absent. */
        as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Proof"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listSimilarSites: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** How many sites. */
        limit?: number;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["SimilarSite"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandSocialPages: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["SocialPage"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandSplitTests: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BrandSplitTests"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandStore: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** Products in the answer. */
        limit?: number;
        /** `next_product_id` of the previous reply. */
        after?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Store"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandTechStack: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["TechStackItem"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandTrajectory: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["TrajectoryPoint"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandVelocity: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
        /** ISO weeks, counted back from the latest observed one. */
        weeks?: number;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["WeeklyVelocity"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  checkClaim: {
    parameters: {
      path?: never;
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClaimToCheck"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["CheckedClaim"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listCategories: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Children of this category. */
        parent_id?: string;
        /** Categories of any level with this slug; with `parent_id`, of its children. */
        slug?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Category"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listCategorySitemap: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["CategorySitemapEntry"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getCategory: {
    parameters: {
      path: {
        /** Id of a category of any level. */
        categoryId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Category"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getCategoryStats: {
    parameters: {
      path: {
        /** Id of a category of any level. */
        categoryId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["CategoryStats"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  searchAds: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Words of the copy; all of them must occur. */
        q?: string;
        /** Creative format. */
        format?: components["schemas"]["AdFormat"];
        /** `missing`: not seen by the last scan, but not confirmed inactive. */
        status?: components["schemas"]["AdStatus"];
        /** A country whose scans showed the ad. */
        country?: string;
        /** Ads attributed to this brand, whenever started. */
        brand_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AdSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getAd: {
    parameters: {
      path: {
        /** Library id of an ad. */
        adId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Ad"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getAdProof: {
    parameters: {
      path: {
        /** Library id of an ad. */
        adId: string;
      };
      query?: {
        /** The moment: events recorded by then count. Now when absent. */
        as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AdProof"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandAds: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AdSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  searchBrandAds: {
    parameters: {
      path: {
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** A platform that shows the ad, such as `instagram`. */
        platform?: string;
        /** The social page that runs the ad. */
        page_id?: string;
        /** Type of the call to action, such as `SHOP_NOW`. */
        cta_type?: string;
        /** A language of the ad, such as `en`. */
        language?: string;
        /** `missing`: not seen by the last scan, but not confirmed inactive. */
        status?: components["schemas"]["AdStatus"];
        /** Started on this day or later. An ad without a known start counts by its first sighting. Between 2000-01-01 and 2999-12-31. */
        started_from?: string;
        /** Started on this day or earlier. Between 2000-01-01 and 2999-12-31. */
        started_to?: string;
        /** Confirmed inactive on this day in UTC or later, and still. Between 2000-01-01 and 2999-12-31. */
        confirmed_inactive_from?: string;
        /** Confirmed inactive on this day in UTC or earlier, and still. Between 2000-01-01 and 2999-12-31. */
        confirmed_inactive_to?: string;
        /** `newest`: newest start first. `longest_running`: most `days_active` first. */
        sort?: "newest" | "longest_running";
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AdSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listAdCreatives: {
    parameters: {
      path: {
        /** Library id of an ad. */
        adId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Creative"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getCreativeCoverage: {
    parameters: {
      path?: never;
      query?: {
        /** Uuid of a brand. */
        brand_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["CreativeCoverage"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  searchCreativeRecords: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Files that the brand's attributed ads carry. */
        brand_id?: string;
        /** Exact analysis depth. */
        depth?: components["schemas"]["AnalysisDepth"];
        /** Image or video. */
        media_kind?: components["schemas"]["MediaKind"];
        /** How the creative begins. */
        hook?: components["schemas"]["CreativeHook"];
        /** How it is made. */
        style?: components["schemas"]["CreativeStyle"];
        /** Who speaks or is shown. */
        presenter?: components["schemas"]["CreativePresenter"];
        /** Place at which it plays. */
        setting?: components["schemas"]["CreativeSetting"];
        /** The mood that it speaks in. */
        tone?: components["schemas"]["CreativeTone"];
        /** Kind of offer that it makes. */
        offer?: components["schemas"]["CreativeOffer"];
        /** Sounds that are heard. */
        audio?: components["schemas"]["CreativeAudio"];
        /** Spoken words; all of them must occur. */
        said?: string;
        /** Words shown on screen; all of them must occur. */
        shown?: string;
        /** Videos at least so long. */
        min_duration_seconds?: number;
        /** Videos at most so long. */
        max_duration_seconds?: number;
        /** Files at least so large. */
        min_bytes?: number;
        /** Files at most so large. */
        max_bytes?: number;
        /** At least so many pixels wide. */
        min_width?: number;
        /** At most so many pixels wide. */
        max_width?: number;
        /** At least so many pixels high. */
        min_height?: number;
        /** At most so many pixels high. */
        max_height?: number;
        /** Carried by at least so many live ads. */
        min_active_ads?: number;
        /** Carried by at most so many live ads. */
        max_active_ads?: number;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["CreativeRecordSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getCreativeRecord: {
    parameters: {
      path: {
        /** SHA-256 of the file in hex, or its first ten characters or more. */
        creativeKey: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["CreativeRecord"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listCreatives: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Library id of an ad. */
        ad_id?: string;
        /** Uuid of a brand. */
        brand_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Creative"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getCreative: {
    parameters: {
      path: {
        /** Id of a creative asset. */
        creativeId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Creative"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listPageDetails: {
    parameters: {
      path?: never;
      query: {
        /** Ids of landing pages, separated by commas. */
        ids: Array<string>;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["LandingPage"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listPages: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** What the page was classified as. */
        page_type?: components["schemas"]["PageType"];
        /** Pages of this brand, and pages its ads lead to. */
        brand_id?: string;
        /** Pages of brands of this category, of any level. */
        category_id?: string;
        /** Part of the address, in upper or lower case. */
        url?: string;
        /** `popular`: pages with the most ads first. */
        sort?: "newest" | "popular";
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["LandingPageSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getPage: {
    parameters: {
      path: {
        /** Id of a landing page. */
        pageId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["LandingPage"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listRanking: {
    parameters: {
      path?: never;
      query: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** The country that most visits come from. */
        country: string;
        /** Only brands of this category, of any level. */
        category_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["RankedBrand"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listNewAdvertisers: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Length of the window in UTC days. */
        days?: number;
        /** Only brands of this category, of any level. */
        category_id?: string;
        /** Only brands based in this country, ISO 3166-1 alpha-2. */
        country?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["NewAdvertiser"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listRisers: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only brands of this category, of any level. */
        category_id?: string;
        /** Only brands based in this country, ISO 3166-1 alpha-2. */
        country?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Riser"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getSplitTestCensus: {
    parameters: {
      path?: never;
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["SplitTestCensusItem"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listTools: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Category of the tool, such as `A/B testing`, in upper or lower case. */
        category?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["ToolSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getTool: {
    parameters: {
      path: {
        /** Slug or uuid of a tool. */
        toolSlug: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Tool"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listToolBrands: {
    parameters: {
      path: {
        /** Slug or uuid of a tool. */
        toolSlug: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only brands with this top traffic country. */
        country?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["ToolBrand"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listAudience: {
    parameters: {
      path: {
        /** One of `majority-female`, `majority-male`, `gen-z`, `millennial`, `gen-x`, `senior`, `under-35`, `over-45`. */
        segment: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AudienceBrand"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listHubs: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Hub"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listOperators: {
    parameters: {
      path?: never;
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["OperatorSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getOperator: {
    parameters: {
      path: {
        /** Id of an operator. */
        operatorId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
        /** ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other. */
        "if-none-match"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Operator"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      304: components["responses"]["NotModified"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandRequests: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Requests of this status only. */
        status?: components["schemas"]["BrandRequestStatus"];
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BrandRequest"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  requestBrand: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RequestBrand"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["BrandRequest"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrandRequest: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a brand request. */
        requestId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BrandRequest"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listWorkspaceChanges: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** The earlier moment, such as `2026-11-01T00:00:00Z`. Required without `since_token`: send one of the two. */
        since?: string;
        /** `x-next-since-token` of the last page of an earlier call: the changes after that call. Takes no `until`. */
        since_token?: string;
        /** The later moment. Now when absent. */
        until?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["WorkspaceChange"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listTrackedBrands: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["TrackedBrandListItem"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  trackBrand: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TrackBrand"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["TrackedBrand"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      402: components["responses"]["PaymentRequired"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  trackBrands: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TrackBrands"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BulkTracked"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listTrackedBrandsFreshness: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["TrackedBrandFreshness"]>;
            meta: components["schemas"]["ListMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  untrackBrand: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Uuid of a brand; a slug is not accepted here. */
        brandId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UntrackBrand"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["UntrackedBrand"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listRadar: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** A moment of the past, such as `2026-11-01T00:00:00Z`: the answer that the events recorded by then give. What was observed before it and recorded after it does not count; the header `x-as-of-late-events` says how many such events there are. Categories have the names that the brand and their definitions gave them, and `freshness` counts the cadence of this workspace only. Now when absent. Between 2000-01-01 and 2999-12-31. */
        as_of?: string;
        /** A moment of the past: the answer that what was observed by then gives, also what was recorded only later, such as an import of older scans or a late scan; the header `x-as-of-late-events` says how many of these events there are. What is tracked does not depend on it, and a profile that arrived after a newer one left no event. With `as_of`, both hold. A moment between a late scan and a newer one that was recorded before it has no answer: the error names the nearest ones that have, and the `as_of` that leaves the late scan out. Now when absent. Between 2000-01-01 and 2999-12-31. */
        observed_as_of?: string;
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Number of days, counted back from the last scan. */
        days?: number;
        /** Only these types, separated by commas. */
        types?: Array<components["schemas"]["RadarItemType"]>;
        /** Only this tracked brand. */
        brand_id?: string;
        /** Only what was observed on this day, in UTC, whatever `days` is. Between 2000-01-01 and 2999-12-31. */
        date?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["RadarItem"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listSignals: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Number of days, counted back from the last scan. */
        days?: number;
        /** Only these kinds, separated by commas. */
        kinds?: Array<components["schemas"]["SignalKind"]>;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Signal"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getRadarItemProof: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a radar item of a tracked brand. */
        itemId: string;
      };
      query?: {
        /** The moment: events recorded by then count. Now when absent. */
        as_of?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RadarItemProof"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBrandSignals: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Uuid or slug of a brand. An older slug, made of the whole domain, is answered with 308 and the address with the present one. */
        brandId: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only these kinds, separated by commas. */
        kinds?: Array<components["schemas"]["SignalKind"]>;
        /** From this time on, such as `2026-11-01T00:00:00Z`. No limit when absent. Between 2000-01-01 and 2999-12-31. */
        since?: string;
        /** Before this time. No limit when absent. Between 2000-01-01 and 2999-12-31. */
        until?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Signal"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      308: components["responses"]["SlugReplaced"];
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listAlertDeliveries: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Deliveries of this rule only. */
        alert_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AlertDelivery"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  redeliverFailed: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RedeliverFailed"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RedeliveredFailed"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  searchAlertDeliveries: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only these statuses, separated by commas. */
        statuses?: Array<components["schemas"]["DeliveryStatus"]>;
        /** Only these channels, separated by commas. */
        channels?: Array<components["schemas"]["AlertChannel"]>;
        /** Deliveries of this rule only. */
        alert_id?: string;
        /** From this time on, such as `2026-11-01T00:00:00Z`. No limit when absent. Between 2000-01-01 and 2999-12-31. */
        since?: string;
        /** Before this time. No limit when absent. Between 2000-01-01 and 2999-12-31. */
        until?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["AlertDelivery"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getDeliveryProof: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a delivery. */
        deliveryId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeliveryProof"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  redeliver: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a delivery. */
        deliveryId: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["Redeliver"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Redelivered"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listAlerts: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Alert"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  createAlert: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateAlert"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["WrittenAlert"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  backtestAlert: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateAlert"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AlertBacktest"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  issueWebhookSecret: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["IssueWebhookSecret"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["IssuedWebhookSecret"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  changeAlert: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of an alert rule. */
        alertId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ChangeAlert"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["WrittenAlert"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  deleteAlert: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of an alert rule. */
        alertId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DeleteAlert"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeletedAlert"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  testAlert: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of an alert rule. */
        alertId: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TestAlert"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TestedAlert"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listBriefs: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["BriefSummary"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getBrief: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a brief. */
        briefId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Brief"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  giveBriefFeedback: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a brief. */
        briefId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["GiveBriefFeedback"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BriefSummary"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listReports: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Report"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  requestReport: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RequestReport"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Report"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getReport: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a report. */
        reportId: string;
      };
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Report"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listRestatements: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Only those of this brief. */
        brief_id?: string;
        /** Only those of this report. */
        report_id?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Restatement"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listCollections: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Collection"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  createCollection: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateCollection"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Collection"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  changeCollection: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a collection. */
        collectionId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ChangeCollection"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Collection"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  deleteCollection: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a collection. */
        collectionId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DeleteCollection"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeletedCollection"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listCollectionItems: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a collection. */
        collectionId: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** `record`: the thing behind each item. */
        include?: "record";
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["ListedCollectionItem"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  addCollectionItem: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a collection. */
        collectionId: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ItemReference"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["AddedCollectionItem"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  removeCollectionItem: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a collection. */
        collectionId: string;
        /** Type of the item. */
        itemType: components["schemas"]["ItemType"];
        /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
        itemKey: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RemoveCollectionItem"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RemovedCollectionItem"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listSavedItems: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Items of this type only. */
        item_type?: components["schemas"]["ItemType"];
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["SavedItem"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  saveItem: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ItemReference"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["SavedItem"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  unsaveItem: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Type of the item. */
        itemType: components["schemas"]["ItemType"];
        /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
        itemKey: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnsaveItem"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["UnsavedItem"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listNotes: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
        /** Notes on subjects of this type only. */
        subject_type?: components["schemas"]["SubjectType"];
        /** Notes on this subject only. Requires `subject_type`, which decides the format of the key. */
        subject_key?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Note"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  writeNote: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WriteNote"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Note"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  deleteNote: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of a note. */
        noteId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DeleteNote"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeletedNote"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  getMe: {
    parameters: {
      path?: never;
      query?: never;
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Me"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listMembers: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["Member"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  listApiKeys: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: {
        /** Items per page. */
        limit?: number;
        /** `meta.cursor` of the previous page; all other parameters must stay the same. */
        cursor?: string;
      };
      header?: {
        /** The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much. */
        "min-position"?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            /** Items in the order of the list; empty when there are none. */
            data: Array<components["schemas"]["ApiKey"]>;
            meta: components["schemas"]["PageMeta"];
          };
          "application/x-ndjson": string;
          "text/csv": string;
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  createApiKey: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateApiKey"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["CreatedApiKey"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  revokeUnusedApiKeys: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RevokeUnusedApiKeys"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RevokedUnusedApiKeys"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  revokeApiKey: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of an API key. */
        keyId: string;
      };
      query?: never;
      header?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RevokeApiKey"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RevokedApiKey"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  rotateApiKey: {
    parameters: {
      path: {
        /** The key's own workspace, `data.workspace_id` of `GET /v1/me`. */
        ws: string;
        /** Id of an API key. */
        keyId: string;
      };
      query?: never;
      header?: {
        /** For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RotateApiKey"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["CreatedApiKey"];
            meta: components["schemas"]["Meta"];
          };
        };
      };
      400: components["responses"]["BadRequest"];
      401: components["responses"]["Unauthorized"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      406: components["responses"]["NotAcceptable"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["BodyTooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["RateLimited"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
}

export interface webhooks {
  alert: {
    content: {
      "application/json": components["schemas"]["AlertPayload"];
    };
  };
}

export interface components {
  schemas: {
    /** An ad with its full copy, files and history. */
    Ad: {
      /** The library's id of the ad: digits, beyond 2^53, hence a string. */
      id: string;
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      /** The social page that runs the ad; null when no source named it. */
      page: components["schemas"]["AdPage"] | null;
      status: components["schemas"]["AdStatus"];
      format: components["schemas"]["AdFormat"];
      /** Text of the ad; null: none observed. */
      body: string | null;
      /** Headline of the ad; null: none observed. */
      title: string | null;
      /** The library's code of the button, such as `SHOP_NOW`; null: none observed. */
      cta_type: string | null;
      /** Label of the button as shown, such as `Shop now`; null: none observed. */
      cta_text: string | null;
      /** As the library shows it, URL macros included; null: no link observed. */
      destination_url: string | null;
      /** Apps of the network that show it, such as `facebook` and `instagram`; empty: none observed. */
      platforms: Array<string>;
      /** Countries whose scans showed the ad. */
      countries: Array<string>;
      /** Start date in the library; null: it states none. */
      started_on: string | null;
      /** Stop date as stated by the library; null when it stated none. */
      stopped_on: string | null;
      /** Time of the first scan that showed the ad. */
      first_seen_at: string;
      /** Time of the newest scan that showed the ad. */
      last_seen_at: string;
      /** Days from the start date, else the first sighting, to the stop date, else the last sighting as running: observed survival, not performance. Null when it was never seen running and states no stop date. */
      days_active: number | null;
      /** The ad in the public library of the network. */
      library_url: string;
      brand: components["schemas"]["BrandReference"];
      /** Text below the headline; null: none observed. */
      link_description: string | null;
      /** The address as shown to viewers; null: none observed. */
      caption: string | null;
      /** Languages of the copy, as ISO 639 or codes of the network; empty: none observed. */
      languages: Array<string>;
      /** Pictures and videos as the library shows them. */
      media: Array<components["schemas"]["AdMedia"]>;
      /** Its archived files, at most 100; empty: none stored. */
      archived_media: Array<components["schemas"]["Creative"]>;
      /** Cards of a carousel in their order; empty for other ads. */
      cards: Array<components["schemas"]["AdCopy"]>;
      /** Other texts and links that the network shows in turn; empty: none observed. */
      versions: Array<components["schemas"]["AdCopy"]>;
      /** Newest first, at most 100 entries. */
      history: Array<components["schemas"]["AdHistoryEntry"]>;
    };
    /** A card of a carousel, or a version of the ad. */
    AdCopy: {
      /** Text of the ad; null: none observed. */
      body: string | null;
      /** Headline of the ad; null: none observed. */
      title: string | null;
      /** Text below the headline; null: none observed. */
      link_description: string | null;
      /** Label of the button as shown, such as `Shop now`; null: none observed. */
      cta_text: string | null;
      /** As the library shows it, URL macros included; null: no link observed. */
      destination_url: string | null;
    };
    /** Creative format. `dco` (dynamic creative optimisation): the network puts the parts together for each viewer; `other`: none of these, or not observed. */
    AdFormat: "video" | "image" | "carousel" | "dco" | "other";
    /** One observed change. `corrected`: a scan that arrived late changed what was recorded; `attributed`: the ad moved to another brand. Neither is news. */
    AdHistoryEntry: {
      /** Time of the scan that showed it. */
      at: string;
      /** `revised`: its copy, format or media changed; `returned`: it runs again after its end. */
      change: "started" | "revised" | "destination_changed" | "confirmed_inactive" | "returned" | "corrected" | "attributed";
      /** Facts by name: of a revision each changed field with `from` and `to`, of an end its basis. */
      detail: Record<string, unknown>;
    };
    /** A picture or video that the library shows in the ad. */
    AdMedia: {
      kind: components["schemas"]["MediaKind"];
      /** URL of the file at the library; it expires; null: none shown. */
      source_url: string | null;
      /** Still image of a video at the library; it expires; null: none shown. */
      poster_url: string | null;
      /** The archived file, when the ad shows exactly one file of this kind. Otherwise null: the library does not say which file is which, and `archived_media` lists all of them. */
      archived_url: string | null;
    };
    /** The social page that runs the ad: an association, not ownership. */
    AdPage: {
      /** The network's id of the page: digits, beyond 2^53, hence a string. */
      page_id: string;
      /** As last observed; null: never observed. */
      page_name: string | null;
    };
    /** An ad as observed, with all that it takes to check it. */
    AdProof: {
      statement: components["schemas"]["AdStatement"];
      /** Rule of the statement, in a sentence. */
      rule: string;
      /** Events recorded by the moment, on which the statement rests. */
      events_counted: number;
      /** Events of the same streams about what was observed by the moment, recorded only afterwards. */
      events_left_out: number;
      /** The newest digest of the log; null: none is signed yet, and nothing attests the events of the bundle. */
      digest: components["schemas"]["LogDigest"] | null;
      /** Events of the streams that were recorded after this digest. */
      events_not_attested: number;
      /** When the link expires. */
      expires_at: string;
      /** Signed link to the page, one HTML file that checks itself in a browser without a network. It needs no key. `npm run ops -- proof verify FILE` checks it by code that is not in it. */
      page_url: string;
    };
    /** An ad as observed, as known at a moment. */
    AdStatement: {
      /** Subject of the statement. */
      about: "ad";
      /** Library id of the ad. */
      ad_id: string;
      /** SHA-256 of the archived picture on the page; null: no picture of it is stored. */
      picture_sha256: string | null;
      /** The moment: events recorded by then count. */
      as_of: string;
      /** Streams whose events give it, with the last event read of each. */
      streams: Array<{
        /** Name of the stream. */
        stream: string;
        /** Revision of the last event that was read. */
        revision: string;
      }>;
    };
    /** `active`: shown by the last scan that covered its page; `missing`: not seen by it, but not confirmed inactive; `inactive`: stopped as the library says, or absent from complete scans at least 20 hours apart. */
    AdStatus: "active" | "missing" | "inactive";
    /** An ad as the library showed it, as in lists. */
    AdSummary: {
      /** The library's id of the ad: digits, beyond 2^53, hence a string. */
      id: string;
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      /** The social page that runs the ad; null when no source named it. */
      page: components["schemas"]["AdPage"] | null;
      status: components["schemas"]["AdStatus"];
      format: components["schemas"]["AdFormat"];
      /** Text of the ad; null: none observed. */
      body: string | null;
      /** Headline of the ad; null: none observed. */
      title: string | null;
      /** The library's code of the button, such as `SHOP_NOW`; null: none observed. */
      cta_type: string | null;
      /** Label of the button as shown, such as `Shop now`; null: none observed. */
      cta_text: string | null;
      /** As the library shows it, URL macros included; null: no link observed. */
      destination_url: string | null;
      /** Apps of the network that show it, such as `facebook` and `instagram`; empty: none observed. */
      platforms: Array<string>;
      /** Countries whose scans showed the ad. */
      countries: Array<string>;
      /** Start date in the library; null: it states none. */
      started_on: string | null;
      /** Stop date as stated by the library; null when it stated none. */
      stopped_on: string | null;
      /** Time of the first scan that showed the ad. */
      first_seen_at: string;
      /** Time of the newest scan that showed the ad. */
      last_seen_at: string;
      /** Days from the start date, else the first sighting, to the stop date, else the last sighting as running: observed survival, not performance. Null when it was never seen running and states no stop date. */
      days_active: number | null;
      /** The ad in the public library of the network. */
      library_url: string;
    };
    /** An item of a collection, added now or before. */
    AddedCollectionItem: {
      /** Stable id of the collection, `{collectionId}` in paths. */
      collection_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** Id of the member who added it. */
      created_by: string;
      /** When it was added. */
      created_at: string;
    };
    /** A rule that tells of changes at tracked brands. */
    Alert: {
      /** Stable id of the rule, `{alertId}` in paths. */
      id: string;
      /** Title of the rule, shown in what it sends. */
      name: string;
      trigger: components["schemas"]["AlertTrigger"];
      /** Brands that the rule watches. An untracked brand is ignored until it is tracked again. */
      brand_ids: Array<string>;
      cadence: components["schemas"]["AlertCadence"];
      /** Whether it is mailed to the member who created the rule. */
      email: boolean;
      /** An https URL that signed requests are posted to. Null: none is set. */
      webhook_url: string | null;
      /** The chat tool's incoming webhook, whose address is never returned; null: none is set. */
      chat: {
        /** Such as `hooks.slack.com`. */
        host: string;
      } | null;
      /** Whether members switched the rule on; `sends_on` says what that amounts to. */
      enabled: boolean;
      /** Channels that matches are sent on: those of the rule that are not suspended; none while the rule is disabled. Empty: nothing is sent. */
      sends_on: Array<components["schemas"]["AlertChannel"]>;
      /** Suspended channels: all deliveries failed for five days, and nothing more is sent. Enabling the rule, or setting the address of the channel, ends a suspension. What was skipped meanwhile is not sent later. */
      suspended: Array<{
        channel: components["schemas"]["EndpointChannel"];
        /** Start of the failures without a success since. */
        failing_since: string;
        /** When sending on it ended. */
        suspended_at: string;
      }>;
      /** Least number of items of a message: of one brand in one scan, or of a digest. Messages with fewer are not sent. A page link or a signal that is sent at once is one item. */
      threshold?: number;
      quiet_hours?: components["schemas"]["QuietHours"];
      /** Most messages of an instant rule on a UTC day, on each channel. What is above is sent in one digest after the day, which is a message of the next day. */
      max_per_day?: number;
      /** Id of the member who created it and receives its e-mails. */
      created_by: string;
      /** When the rule was created. */
      created_at: string;
      /** When it was last changed, or one of its channels was suspended. */
      updated_at: string;
    };
    /** Messages that a rule would have sent, had it existed. */
    AlertBacktest: {
      /** Start of the days that were tested, by the recording of the events. */
      from: string;
      /** Their end. */
      to: string;
      /** Deliveries in all, one for each channel of the rule. A digest is one; that of a day or week that has not ended is none. */
      deliveries_total: number;
      /** Days with deliveries, oldest first. */
      days: Array<{
        /** The UTC day on which they would have been sent. */
        date: string;
        /** Deliveries of the day. */
        deliveries: number;
        /** Items that each channel would have got on that day. */
        items: number;
      }>;
      /** Messages, newest first; at most 10. */
      examples: Array<{
        /** `alert`: a match; `digest`: all matches of a day or week. */
        kind: "alert" | "digest";
        /** When it would have been queued. */
        at: string;
        /** All items, including those left out here. */
        items_total: number;
        /** The first items, at most 3. */
        items: Array<components["schemas"]["AlertItem"]>;
      }>;
      /** The events that the answer rests on. */
      events: {
        /** Events recorded in these days about the brands and their ads. */
        considered: number;
        /** Earlier events. They tell what was known at the start, and nothing is sent on them. */
        older: number;
        /** Events that a newer release wrote, and those after them in their streams; they are left out. */
        unread: number;
      };
    };
    /** `instant`: as it is observed; `daily` and `weekly`: once a day or ISO week, in UTC, for all of it. */
    AlertCadence: "instant" | "daily" | "weekly";
    /** Way by which it is sent: mail to the creator of the rule, its webhook, or its chat tool. */
    AlertChannel: "email" | "webhook" | "chat";
    /** A match, digest, sample or notice sent on one channel. */
    AlertDelivery: {
      /** Equal to `webhook-id` of each request and to `id` of its body. */
      id: string;
      /** The rule that sent it. */
      alert_id: string;
      channel: components["schemas"]["AlertChannel"];
      kind: components["schemas"]["DeliveryKind"];
      status: components["schemas"]["DeliveryStatus"];
      /** Items in it, including those that its payload leaves out. */
      items_total: number;
      /** When it was queued. */
      created_at: string;
      /** When the next attempt is due; null unless `retrying`. */
      next_attempt_at: string | null;
      /** When it was delivered, given up or cancelled; null until then. */
      finished_at: string | null;
      /** Reason why it is not delivered yet, or was cancelled, as a sentence; null without one. */
      reason: string | null;
      /** All attempts, including those not shown. */
      attempts_total: number;
      /** Attempts, oldest first; at most the latest 30. */
      attempts: Array<components["schemas"]["AlertDeliveryAttempt"]>;
    };
    /** One try to send a delivery. */
    AlertDeliveryAttempt: {
      /** Number of the attempt, from 1; a replay continues the count. */
      attempt: number;
      /** When the attempt began. */
      attempted_at: string;
      /** Result of the attempt: done, another attempt follows, or given up. */
      outcome: "delivered" | "retrying" | "failed";
      /** The step that failed; null when delivered. */
      failure: components["schemas"]["FailureClass"] | null;
      /** The receiver's HTTP status or SMTP reply code; null without a reply. */
      status_code: number | null;
      /** Why it failed, as a sentence; null when delivered. */
      reason: string | null;
      /** Milliseconds from its start to the answer, or to its failure. */
      duration_ms: number;
      /** When the next attempt was due; null when there was none. */
      next_attempt_at: string | null;
    };
    /** An observation, never a statement of cause or ownership. */
    AlertItem: {
      /** The same item has the same id in every payload. */
      id: string;
      /** Kind of observation: a radar item, a page linked, a new partner, or a signal. */
      type: "ad_started" | "ad_stopped" | "destination_changed" | "page_linked" | "partner_started" | "activity";
      /** Time of the scan or link that showed it. */
      observed_at: string;
      brand: components["schemas"]["BrandReference"];
      /** The observation as a sentence. */
      title: string;
      /** The library's id of the ad; null when it is about no single ad. */
      ad_id: string | null;
      /** The network's id of the page; null when none is named. */
      page_id: string | null;
      /** Link of the ad, after a change the new one; null: none observed. */
      destination_url: string | null;
      /** Link before the change; null for other types. */
      previous_destination_url: string | null;
      /** For `activity`, the kind of signal; otherwise null. */
      signal: string | null;
      /** Address of the details in this API. */
      url: string;
    };
    /** Body of a delivery of an alert rule. */
    AlertPayload: {
      /** Id of the delivery, equal to the header `webhook-id` in every attempt. */
      id: string;
      /** Event name to dispatch on; it says the same as `kind`. */
      type: "alert.matched" | "alert.digest" | "alert.test" | "alert.suspended";
      kind: components["schemas"]["DeliveryKind"];
      /** When the delivery was queued. */
      created_at: string;
      /** The workspace of the rule. */
      workspace_id: string;
      /** The rule that sends. */
      alert: {
        /** Id of the rule, `{alertId}` in paths. */
        id: string;
        /** Title of the rule at that time. */
        name: string;
        trigger: components["schemas"]["AlertTrigger"];
        cadence: components["schemas"]["AlertCadence"];
      };
      /** Days of a digest, both included; otherwise null. */
      period: {
        /** First UTC day. */
        from: string;
        /** Last UTC day, included. */
        to: string;
      } | null;
      /** All items, including those left out of `items`. */
      items_total: number;
      /** The items, at most 100. */
      items: Array<components["schemas"]["AlertItem"]>;
      /** When the newest item was observed. */
      as_of: string;
      /** For `alert.suspended`, which is sent by e-mail only: the suspended channel. */
      suspended_channel?: components["schemas"]["EndpointChannel"];
      /** Only in an `alert.matched` that replaces several: their number, and a link to the list of deliveries. Too many deliveries of the rule were waiting. `items_total` counts the items of all. */
      merged?: {
        /** Deliveries that this one replaces. */
        alerts: number;
        /** Address of the list of the rule's deliveries. */
        url: string;
      };
    };
    /** `new_ads`: ads started; `stopped_ads`: ads confirmed inactive; `page_changes`: ads whose destination link changed, and pages newly linked; `new_partners`: pages of creators and partners, and pages not linked with the brand, that run its ads or are linked with it for the first time; `activity`: ramps, drops, launch bursts, sales and the like, as the signals have them. */
    AlertTrigger: "new_ads" | "stopped_ads" | "page_changes" | "new_partners" | "activity";
    /** `measured`: media facts are known; `transcribed`: also what is said; `described`: also the closed fields. */
    AnalysisDepth: "measured" | "transcribed" | "described";
    /** A key as it is listed, without its text. */
    ApiKey: {
      /** Id of the key, not the key itself; `{keyId}` in paths. */
      key_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** Purpose of the key. */
      name: string;
      /** The last characters of the key, to recognise it. */
      last_four: string;
      /** Granted scopes. The present role of the member may allow fewer. */
      scopes: Array<components["schemas"]["Scope"]>;
      status: components["schemas"]["ApiKeyStatus"];
      /** When it was issued. */
      created_at: string;
      /** The member who owns the key. */
      created_by: {
        /** Stable id of the member. */
        id: string;
        /** Name to show; null for an erased member. */
        name: string | null;
      };
      /** The key that this one replaced by rotation; otherwise null. */
      replaces: string | null;
      /** Last use by a request, written in batches, so up to 30 seconds late. Null when never used. */
      last_used_at: string | null;
      /** When it was revoked; null while it is active. */
      revoked_at: string | null;
    };
    /** A revoked key is refused from the next request on. */
    ApiKeyStatus: "active" | "revoked";
    /** A brand whose visitors make up the segment. */
    AudienceBrand: {
      /** Place in the whole list, from 1 on its first page. */
      rank: number;
      brand: components["schemas"]["BrandSummary"];
      /** Visits of the site in a month, a traffic provider's estimate. */
      monthly_visits: number;
      /** The day, or the first of the month, of the visits. */
      estimated_for: string;
      demographics: components["schemas"]["Demographics"];
    };
    /** A brand with all of its figures. */
    Brand: {
      /** Stable id of the brand, `{brandId}` in paths. */
      id: string;
      /** Name of the brand in links, made from its domain and never changed; paths take it for the id. */
      slug: string;
      /** The brand as it calls itself; its domain until that was observed. */
      name: string;
      /** Domain that it is known by; each brand has one. */
      domain: string;
      /** Address of the brand in this API. */
      url: string;
      /** Picture of the logo; null when none was observed. */
      logo_url: string | null;
      /** Country in which the brand is based, ISO 3166-1 alpha-2; null when that was not observed. */
      country: string | null;
      /** What it sells, at the top level; null: not categorised. */
      category: components["schemas"]["CategoryReference"] | null;
      /** What it sells, one level below `category`; null: not categorised so finely. */
      mid_category: components["schemas"]["CategoryReference"] | null;
      /** Ads not confirmed inactive; an ad not seen is not an ad stopped. */
      active_ads: number;
      /** Ads ever observed, those confirmed inactive included. */
      total_ads: number;
      /** New ads of the 7 UTC days that end with its last scan; one found long after it began is not new. */
      new_ads_7d: number;
      /** Whether search engines should list the page of the brand. */
      indexable: boolean;
      /** Its last scan, or its profile while it was never scanned. */
      as_of: string;
      /** What the brand says about itself; null when that was not observed. */
      description: string | null;
      /** Ads confirmed inactive: `total_ads` minus `active_ads`. */
      inactive_ads: number;
      /** New ads of the 30 UTC days that end with its last scan. */
      new_ads_30d: number;
      /** Ads confirmed inactive in the 7 UTC days that end with its last scan. */
      retired_ads_7d: number;
      /** Ads confirmed inactive in the 30 UTC days that end with its last scan. */
      retired_ads_30d: number;
      /** Mean days that its ended ads were observed to run: survival, not performance. Null when none has ended. */
      avg_ad_lifespan_days: number | null;
      /** UTC day of the last scan that showed an ad of the brand; null: none did. */
      last_ad_seen_at: string | null;
      formats: components["schemas"]["Formats"];
      /** The ten countries with most active ads, most first; an ad counts in each. */
      top_countries: Array<{
        /** ISO 3166-1 alpha-2. */
        country: string;
        /** Active ads that scans of this country showed. */
        ads: number;
      }>;
    };
    /** A difference between two past moments. */
    BrandChange: {
      subject: components["schemas"]["ChangeSubject"];
      /** Uuid of the brand, date of the day, or library id of the ad. */
      id: string;
      change: components["schemas"]["ChangeKind"];
      /** Field of the record, such as `status`; null: the whole record. */
      field: string | null;
      /** Value as of `since`; null also for an added record. */
      before: unknown;
      /** Value as of `until`; null also for a removed record. */
      after: unknown;
      /** Events about the record that were recorded between the two moments, newest first, at most 10. */
      events: Array<components["schemas"]["RecordedEvent"]>;
      /** Number of such events. */
      events_total: number;
      /** Address of the record. */
      url: string;
    };
    /** Observations of a brand, and the gaps between them. */
    BrandCoverage: {
      brand: components["schemas"]["BrandReference"];
      /** Time of the observation that registered the brand; null: not known. */
      known_since: string | null;
      /** Pages linked to the brand now, by id, at most 500. */
      pages: Array<components["schemas"]["CoveredPage"]>;
      /** Number of pages linked to the brand. */
      pages_total: number;
      /** Reliable days of the last 28 UTC days. The window ends with today, not with `as_of`, because coverage says what is known now. */
      reliable_days: {
        /** First day of the window. */
        from: string;
        /** Last day of the window: today. */
        to: string;
        /** Number of reliable days. */
        count: number;
        /** Reliable days, oldest first. */
        dates: Array<string>;
      };
      /** Every source that this service can collect. */
      sources: Array<components["schemas"]["SourceCoverage"]>;
      /** Scans for the brand, or of its linked pages, that did not read the library to the end. */
      incomplete_scans: {
        /** Number of incomplete scans in the same window. */
        count: number;
        /** Newest first, at most 20. */
        newest: Array<components["schemas"]["IncompleteScan"]>;
      };
    };
    /** Metadata of the single-brand read. */
    BrandMeta: {
      /** The same as the header `x-request-id`. */
      request_id: string;
      /** Time at which the figures hold. Quote it with them. */
      as_of: string;
      /** Age of `as_of` in hours. */
      lag_hours?: number;
      freshness: components["schemas"]["Freshness"];
    };
    /** Brands that share pages: observed associations, not ownership. */
    BrandNetwork: {
      /** At most 100. Of a category, those that meet most others on pages, most linked first. Of one brand, the brand itself, then those it shares most with: a page counts the more the fewer brands share it. */
      brands: Array<{
        brand: components["schemas"]["BrandReference"];
        /** Brands of this network that share a page with it. */
        linked_brands: number;
      }>;
      /** Between the brands shown, most confident first, at most 500. Pages of more than 100 brands link none of them. */
      links: Array<{
        /** The two brand ids, sorted: a link has no direction. */
        brand_ids: Array<string>;
        /** Pages that run active ads of both brands, or are linked to both. */
        shared_pages: number;
        /** How much the shared pages say: each counts for the weaker of its two associations, divided by the number of other brands on it; together they count for the chance that not all of them are wrong. */
        confidence: number;
      }>;
      /** Brands of the whole network, including those not shown. */
      brands_with_link: number;
      /** Public brands of the category that share no page with another; 0 in the network of one brand that has links or is not public. */
      brands_without_link: number;
    };
    /** A brand as shown in other records. */
    BrandReference: {
      /** Stable id of the brand, `{brandId}` in paths. */
      id: string;
      /** Name of the brand in links, made from its domain and never changed; paths take it for the id. */
      slug: string;
      /** The brand as it calls itself; its domain until that was observed. */
      name: string;
      /** Picture of the logo; null when none was observed. */
      logo_url: string | null;
      /** Address of the brand in this API. */
      url: string;
    };
    /** A request for a brand that the service did not know. */
    BrandRequest: {
      /** Stable id of the request, `{requestId}` in paths; the same for each request of a domain. */
      id: string;
      status: components["schemas"]["BrandRequestStatus"];
      /** Domain that was requested. */
      domain: string;
      /** Social page that was named; null: none was. */
      page_id: string | null;
      /** Whether to track the brand as soon as it is ready. */
      track: boolean;
      cadence: components["schemas"]["Cadence"];
      tracking: components["schemas"]["RequestedTracking"];
      /** Forecast at the time of the request; null when none was possible. */
      forecast: components["schemas"]["CollectingForecast"] | null;
      /** Why there is no forecast, as a sentence; null: there is one. */
      forecast_reason: string | null;
      /** The operator's reason for a refusal; null: not refused. */
      reason: string | null;
      /** Id of the brand; null until the request is ready. */
      brand_id: string | null;
      /** Address of the brand in this API; null until ready. */
      url: string | null;
      /** Id of the member who asked. */
      created_by: string;
      /** When it was requested. */
      created_at: string;
      /** When it was accepted or refused; null until then. */
      decided_at: string | null;
      /** When it became ready; null until then. */
      ready_at: string | null;
    };
    /** `requested` until an operator decides; `collecting` while collectors look at the domain; `ready` when the brand is known; `refused` by an operator. */
    BrandRequestStatus: "requested" | "collecting" | "ready" | "refused";
    /** A brand that search engines should list. */
    BrandSitemapEntry: {
      /** Name of the brand in links, made from its domain and never changed; paths take it for the id. */
      slug: string;
      /** Address of the brand in this API. */
      url: string;
      /** Newest observation of its profile or scan of its ads. */
      updated_at: string;
    };
    /** What is tested on the site of a brand; never which arm did better. */
    BrandSplitTests: {
      /** `not_collected`: the site was never scanned, which does not mean that nothing is tested there. */
      status: components["schemas"]["CollectedStatus"];
      /** When the site was last scanned; null: never. */
      scanned_at: string | null;
      /** Testing tools installed on the site; null when it was never scanned. */
      tools: Array<{
        /** Name of the tool in links; paths take it as `{toolSlug}`. */
        slug: string;
        /** The tool in words, to be shown to people. */
        name: string;
        /** What the tool is for. */
        category: string;
        /** Site of the tool's maker; null: not known. */
        website_url: string | null;
        /** Address of the tool in this API. */
        url: string;
        /** Whether any scan could read its configuration. */
        read: boolean;
        /** When it was last read; null: never. */
        read_at: string | null;
        /** Tests that were read from the tool; null when it was not read. */
        tests: number | null;
      }> | null;
      /** Tests read on the site, running ones first, then newest first; null when no tool was read. */
      tests: Array<components["schemas"]["SplitTest"]> | null;
      /** Tests at brands of the brand's top-level category; null where it has none. */
      category_profile: {
        category: components["schemas"]["CategoryReference"];
        /** Public brands of the category with a tool that was read. */
        brands_read: number;
        /** What their tests vary, most tests first. */
        types: Array<{
          type: components["schemas"]["SplitTestType"];
          /** Public brands of the category with such a test. */
          brands: number;
          /** Their tests of this type, in any state. */
          tests: number;
          /** Tests among them that run. */
          running_tests: number;
        }>;
      } | null;
    };
    /** A brand with its main figures, as in lists. */
    BrandSummary: {
      /** Stable id of the brand, `{brandId}` in paths. */
      id: string;
      /** Name of the brand in links, made from its domain and never changed; paths take it for the id. */
      slug: string;
      /** The brand as it calls itself; its domain until that was observed. */
      name: string;
      /** Domain that it is known by; each brand has one. */
      domain: string;
      /** Address of the brand in this API. */
      url: string;
      /** Picture of the logo; null when none was observed. */
      logo_url: string | null;
      /** Country in which the brand is based, ISO 3166-1 alpha-2; null when that was not observed. */
      country: string | null;
      /** What it sells, at the top level; null: not categorised. */
      category: components["schemas"]["CategoryReference"] | null;
      /** What it sells, one level below `category`; null: not categorised so finely. */
      mid_category: components["schemas"]["CategoryReference"] | null;
      /** Ads not confirmed inactive; an ad not seen is not an ad stopped. */
      active_ads: number;
      /** Ads ever observed, those confirmed inactive included. */
      total_ads: number;
      /** New ads of the 7 UTC days that end with its last scan; one found long after it began is not new. */
      new_ads_7d: number;
      /** Whether search engines should list the page of the brand. */
      indexable: boolean;
      /** Its last scan, or its profile while it was never scanned. */
      as_of: string;
    };
    /** The newest live creatives of one requested brand. */
    BrandThumbs: {
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      /** Up to four still images, newest first; empty when none is stored. */
      thumbs: Array<components["schemas"]["Thumb"]>;
    };
    /** What a week brought, by brand and with notable items. */
    Brief: {
      /** Stable id of the brief, `{briefId}` in paths. */
      id: string;
      /** ISO 8601 week, as in `2026-W47`. */
      week: string;
      /** Monday, in UTC. */
      from: string;
      /** Sunday, in UTC, included. */
      to: string;
      /** Brands that were tracked. */
      brands: number;
      /** Radar items at all of these brands. */
      changes: components["schemas"]["RadarChangeCounts"];
      /** The workspace's verdict; null when there is none, or it was cleared. */
      feedback: components["schemas"]["BriefFeedback"] | null;
      /** When the brief was prepared; its figures are as of then. */
      created_at: string;
      /** All brands tracked at that time, most changes first. */
      changes_by_brand: Array<{
        brand: components["schemas"]["BrandReference"];
        changes: components["schemas"]["RadarChangeCounts"];
      }>;
      /** Items as of that time, newest first within each group: destinations changed by ads that ran for 60 days or more, stops of such ads, launches, other changed destinations, other stops. */
      notable_items: Array<components["schemas"]["RadarItem"]>;
    };
    /** The workspace's verdict on a brief. */
    BriefFeedback: "useful" | "already_known" | "wrong";
    /** What a week brought at tracked brands, in counts. */
    BriefSummary: {
      /** Stable id of the brief, `{briefId}` in paths. */
      id: string;
      /** ISO 8601 week, as in `2026-W47`. */
      week: string;
      /** Monday, in UTC. */
      from: string;
      /** Sunday, in UTC, included. */
      to: string;
      /** Brands that were tracked. */
      brands: number;
      /** Radar items at all of these brands. */
      changes: components["schemas"]["RadarChangeCounts"];
      /** The workspace's verdict; null when there is none, or it was cleared. */
      feedback: components["schemas"]["BriefFeedback"] | null;
      /** When the brief was prepared; its figures are as of then. */
      created_at: string;
    };
    /** What a request for several brands did. */
    BulkTracked: {
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** One of each brand, in the order of the request. */
      results: Array<{
        /** Stable id of the brand, `{brandId}` in paths. */
        brand_id: string;
        /** What happened to this brand. `no_slot`: all slots of the plan are used. */
        result: "tracked" | "cadence_changed" | "already_tracked" | "brand_unknown" | "no_slot";
        /** How the workspace tracks it now; null when it does not. */
        tracked_brand: components["schemas"]["TrackedBrand"] | null;
      }>;
    };
    /** How often the brand is scanned while the workspace tracks it. */
    Cadence: "daily" | "weekly";
    /** What brands sell, at one of three levels. */
    Category: {
      /** Stable id of the category, `{categoryId}` in paths. */
      id: string;
      /** Name of the category in links; several categories may share one. */
      slug: string;
      /** The category in words, to be shown to people. */
      name: string;
      /** Address of the category in this API. */
      url: string;
      /** 1 for a top level, 3 for a leaf. */
      level: number;
      /** The category above; null for a top level. */
      parent: components["schemas"]["CategoryReference"] | null;
      /** What belongs to it, by its own definition; null: not described. */
      description: string | null;
      /** Categories directly below. */
      children: number;
      /** Figures of the public brands of this category and of those below it. */
      totals: {
        /** Public brands, each counted once. */
        brands: number;
        /** Ads of those brands that are not confirmed inactive. */
        active_ads: number;
        /** Ads of those brands ever observed. */
        total_ads: number;
        /** Brands whose visits are estimated. */
        brands_with_traffic: number;
        /** Sum of their estimated visits in a month; null when none is estimated. */
        monthly_visits: number | null;
      };
      /** Newest observation of its public brands; null when it has no public brand. */
      as_of: string | null;
    };
    /** A category as shown in brand records. */
    CategoryReference: {
      /** Stable id of the category, `{categoryId}` in paths. */
      id: string;
      /** Short name of the category in links; categories of different parents may share one. */
      slug: string;
      /** The category in words, to be shown to people. */
      name: string;
    };
    /** A category that holds a public brand. */
    CategorySitemapEntry: {
      /** Name of the category in links; several categories may share one. */
      slug: string;
      /** Address of the category in this API. */
      url: string;
      /** Its newest naming, or observation of its public brands. */
      updated_at: string;
    };
    /** Figures of the public brands of a category. */
    CategoryStats: {
      category: components["schemas"]["CategoryReference"];
      /** Public brands of the category and of those below it. */
      brands: number;
      /** Live landing pages that ads of those brands lead to. */
      landing_urls: number;
      /** Brands whose visits are estimated. */
      brands_with_traffic: number;
      /** Sum of their estimated visits in a month; null when none is estimated. */
      monthly_visits: number | null;
      /** Up to ten types of those pages, most first; pages not classified are left out. */
      top_page_types: Array<{
        page_type: components["schemas"]["PageType"];
        /** Those landing pages of this type. */
        landing_urls: number;
      }>;
      /** Up to ten tools detected on the sites of those brands, most brands first. */
      top_tools: Array<{
        tool: components["schemas"]["ToolReference"];
        /** Brands among them that have the tool. */
        brands: number;
      }>;
    };
    /** Properties that are absent stay unchanged. */
    ChangeAlert: {
      /** Title of the rule, shown in what it sends. */
      name?: string;
      trigger?: components["schemas"]["AlertTrigger"];
      /** Brands that the workspace tracks; replaces the existing list. */
      brand_ids?: Array<string>;
      cadence?: components["schemas"]["AlertCadence"];
      /** Whether it is mailed to the member who created the rule. */
      email?: boolean;
      /** An https URL that signed requests are posted to. Null removes it. An address, also the same one, ends the suspension of the channel. */
      webhook_url?: string | null;
      /** The incoming webhook of a chat tool: Slack (hooks.slack.com/services/…), Discord (discord.com/api/webhooks/…), Microsoft Teams (Workflows) (….logic.azure.com/workflows/… or ….api.powerplatform.com/…/workflows/…), Google Chat (chat.googleapis.com/v1/spaces/…/messages?…), Mattermost (…/hooks/ and 26 characters), Rocket.Chat (…/hooks/ and two ids). Each gets its own form; other addresses are refused. Such an address is a secret: it is kept encrypted and never answered; reads name its host as `chat`. Null removes it. An address, also the same one, ends the suspension of the channel. */
      chat_webhook_url?: string | null;
      /** `true` ends all suspensions, even when the rule is already enabled. */
      enabled?: boolean;
      /** Least number of items of a message: of one brand in one scan, or of a digest. Messages with fewer are not sent. A page link or a signal that is sent at once is one item. Null: no limit. */
      threshold?: number | null;
      /** Hours in which instant alerts wait. They are sent one by one when the hours have ended. Null: none. */
      quiet_hours?: components["schemas"]["QuietHours"] | null;
      /** Most messages of an instant rule on a UTC day, on each channel. What is above is sent in one digest after the day, which is a message of the next day. Null: no limit. */
      max_per_day?: number | null;
    };
    /** What is not named stays. */
    ChangeCollection: {
      /** Title of the board, one line. */
      name?: string;
      /** What the board is for; null: not described. */
      description?: string | null;
      /** Null moves it to the top. */
      parent_id?: string | null;
      visibility?: components["schemas"]["CollectionVisibility"];
      /** Ids of members; replaces the existing list. */
      editors?: Array<string>;
    };
    /** `added` and `removed`: the whole record; `changed`: one field of it. */
    ChangeKind: "added" | "removed" | "changed";
    /** Record that differs: the brand, a day of its activity, or one of its ads. */
    ChangeSubject: "brand" | "day" | "ad";
    /** Verdict of the observations on a claim. */
    CheckedClaim: {
      brand: components["schemas"]["BrandReference"];
      comparison: components["schemas"]["ClaimComparison"];
      /** Number that the claim states. */
      claimed: number;
      /** `supported`: every number within the bounds satisfies the claim; `contradicted`: none does; `not_observable`: what was observed decides neither. */
      verdict: "supported" | "contradicted" | "not_observable";
      /** Why, in a sentence. */
      reason: string;
      figure: components["schemas"]["FigureName"];
      /** How the figure is counted. */
      rule: string;
      /** First day of the window; null: a figure without. */
      from: string | null;
      /** Last day of the window; null: a figure without. */
      to: string | null;
      /** The figure as it was observed. */
      value: number;
      /** The true figure is not below. */
      at_least: number;
      /** Why it is not below. */
      at_least_reason: string;
      /** The true figure is not above; null: nothing bounds it, because something was not looked at. */
      at_most: number | null;
      /** Why it is not above, or what was not looked at. */
      at_most_reason: string;
      /** Address of the proof of the figure as of the time of this answer. */
      proof_url: string;
    };
    /** How the claim compares the figure with a number. */
    ClaimComparison: "at_least" | "at_most" | "equals" | "more_than" | "less_than";
    /** A claim about a figure of a brand. */
    ClaimToCheck: {
      /** Uuid, slug or domain of the brand. */
      brand: string;
      figure: components["schemas"]["FigureName"];
      comparison: components["schemas"]["ClaimComparison"];
      /** Number that the claim states. */
      value: number;
      /** First day, for `new_ads` and `retired_ads`. */
      from?: string;
      /** Last day, for `new_ads` and `retired_ads`. */
      to?: string;
    };
    /** Whether a scan has read it yet. */
    CollectedStatus: "collected" | "not_collected";
    /** What the first reading of a domain costs. */
    CollectingForecast: {
      /** Requests that the first reading of the site and its shop takes. Calls to the ad library come on top: the number of ads is not known before. */
      calls: number;
      /** Days in which collectors read everything once, this domain included, while they keep up with their work. */
      days: number;
    };
    /** A board of items; it can contain other collections. */
    Collection: {
      /** Stable id of the collection, `{collectionId}` in paths. */
      id: string;
      /** Title of the board, one line. */
      name: string;
      /** What the board is for; null: not described. */
      description: string | null;
      /** The parent collection; null at the top level, or when the caller may not see the parent. */
      parent_id: string | null;
      visibility: components["schemas"]["CollectionVisibility"];
      /** Id of the member who created it. */
      created_by: string;
      /** Ids of members who may see and change it regardless of its visibility. */
      editors: Array<string>;
      /** Its items, newest first, at most 100. */
      items: Array<components["schemas"]["CollectionItem"]>;
      /** Number of all items, including those not shown. */
      item_count: number;
      /** When it was created. */
      created_at: string;
      /** When it last changed. Adding or removing an item counts; a change of a collection inside it does not. */
      updated_at: string;
    };
    /** An item of a collection. */
    CollectionItem: {
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** Id of the member who added it. */
      created_by: string;
      /** When it was added. */
      created_at: string;
    };
    /** `workspace`: visible to all who see its parent; at the top level, to all members. `private`: visible to its creator and editors only. */
    CollectionVisibility: "workspace" | "private";
    /** A linked page, and the complete scans that covered it last. */
    CoveredPage: {
      page: components["schemas"]["AdPage"];
      role: components["schemas"]["PageRole"];
      /** Time of the observation that began the present link; null: not known. */
      linked_since: string | null;
      /** For each country the last complete scan of the page in the last 366 days; empty: none. */
      complete_scans: Array<{
        /** Country that the scan asked for; `ALL`: all countries at once. */
        country: string;
        /** Time of the last complete scan of the page there. */
        scanned_at: string;
        /** Collector that made the scan. */
        collector: string;
      }>;
    };
    /** At least one of the three channels is required. */
    CreateAlert: {
      /** Title of the rule, shown in what it sends. */
      name: string;
      trigger: components["schemas"]["AlertTrigger"];
      /** Brands that the workspace tracks. */
      brand_ids: Array<string>;
      cadence?: components["schemas"]["AlertCadence"];
      /** Whether it is mailed to the member who created the rule. */
      email?: boolean;
      /** An https URL that signed requests are posted to. Null: none is set. */
      webhook_url?: string | null;
      /** The incoming webhook of a chat tool: Slack (hooks.slack.com/services/…), Discord (discord.com/api/webhooks/…), Microsoft Teams (Workflows) (….logic.azure.com/workflows/… or ….api.powerplatform.com/…/workflows/…), Google Chat (chat.googleapis.com/v1/spaces/…/messages?…), Mattermost (…/hooks/ and 26 characters), Rocket.Chat (…/hooks/ and two ids). Each gets its own form; other addresses are refused. Such an address is a secret: it is kept encrypted and never answered; reads name its host as `chat`. Null removes it. */
      chat_webhook_url?: string | null;
      /** `false`: the rule is kept and sends nothing. */
      enabled?: boolean;
      /** Least number of items of a message: of one brand in one scan, or of a digest. Messages with fewer are not sent. A page link or a signal that is sent at once is one item. Null: no limit. */
      threshold?: number | null;
      /** Hours in which instant alerts wait. They are sent one by one when the hours have ended. Null: none. */
      quiet_hours?: components["schemas"]["QuietHours"] | null;
      /** Most messages of an instant rule on a UTC day, on each channel. What is above is sent in one digest after the day, which is a message of the next day. Null: no limit. */
      max_per_day?: number | null;
    };
    /** Name and scopes of the new key. */
    CreateApiKey: {
      /** Purpose of the key. */
      name: string;
      /** Scopes of the key: a subset of those of the calling key. */
      scopes: Array<components["schemas"]["Scope"]>;
    };
    /** A new board, optionally inside another one and with an item. */
    CreateCollection: {
      /** Title of the board, one line. */
      name: string;
      /** What the board is for; null: not described. */
      description?: string | null;
      /** The parent collection, null for the top level. Deleting the parent deletes this one too. */
      parent_id?: string | null;
      visibility?: components["schemas"]["CollectionVisibility"];
      /** Ids of members. */
      editors?: Array<string>;
      first_item?: components["schemas"]["ItemReference"];
    };
    /** A new key with its plaintext. */
    CreatedApiKey: {
      /** Id of the key, not the key itself; `{keyId}` in paths. */
      key_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** Purpose of the key. */
      name: string;
      /** The last characters of the key, to recognise it. */
      last_four: string;
      /** Granted scopes. The present role of the member may allow fewer. */
      scopes: Array<components["schemas"]["Scope"]>;
      status: components["schemas"]["ApiKeyStatus"];
      /** When it was issued. */
      created_at: string;
      /** The member who owns the key. */
      created_by: {
        /** Stable id of the member. */
        id: string;
        /** Name to show; null for an erased member. */
        name: string | null;
      };
      /** The key that this one replaced by rotation; otherwise null. */
      replaces: string | null;
      /** Last use by a request, written in batches, so up to 30 seconds late. Null when never used. */
      last_used_at: string | null;
      /** When it was revoked; null while it is active. */
      revoked_at: string | null;
      /** The key itself. Shown only in this reply: store it now. */
      api_key: string;
    };
    /** An archived creative asset: one stored file in one ad. */
    Creative: {
      /** Id of the file in this ad, `{creativeId}` in paths. */
      id: string;
      /** The library's id of the ad: digits, beyond 2^53, hence a string. */
      ad_id: string;
      /** The brand that the ad is attributed to. */
      brand_id: string;
      /** SHA-256 of the file, in hex. */
      creative_key: string;
      media_kind: components["schemas"]["MediaKind"];
      /** Media type, such as `video/mp4`; null: not measured. */
      content_type: string | null;
      /** Size of the file in bytes; null: not measured. */
      bytes: number | null;
      /** In pixels; null: not measured. */
      width: number | null;
      /** In pixels; null: not measured. */
      height: number | null;
      /** Length of a video in seconds; null: an image, or not measured. */
      duration_seconds: number | null;
      /** URL of the stored file; null when it is not stored. */
      media_url: string | null;
      /** Still image of the file; null when none is stored. */
      poster_url: string | null;
      /** Whether the ad is not confirmed inactive. */
      ad_active: boolean;
      /** When the ad was first seen to carry the file. */
      first_seen_at: string;
      /** When a measurement or analysis of the file last found something new. */
      as_of: string;
      /** Address of the asset in this API. */
      url: string;
      /** URL of the file's record, shared by all ads that carry the file. */
      record_url: string;
    };
    /** Sounds that are heard. */
    CreativeAudio: "speech" | "music" | "speech_and_music" | "effects" | "silent";
    /** How far creative files were processed, and what was found. */
    CreativeCoverage: {
      /** The brand that is counted; null: the files of all public brands are. */
      brand: components["schemas"]["BrandReference"] | null;
      /** Files whose media facts are known; all counts below are of these. */
      measured_files: number;
      /** Measured files that are images. */
      images: number;
      /** Measured files that are videos. */
      videos: number;
      /** Measured files that were transcribed or described. */
      transcribed_files: number;
      /** Measured files whose closed fields were classified. */
      described_files: number;
      /** Values of each closed field, counted over described files. */
      fields: Array<{
        /** Name of the closed field, as in `CreativeFields`. */
        field: "hook" | "style" | "presenter" | "setting" | "tone" | "offer" | "audio";
        /** Its values, most files first; null when no file has been described. */
        values: Array<{
          /** One of the values of the field. */
          value: string;
          /** Described files that have it. */
          files: number;
        }> | null;
        /** Described files without a value for the field; null when no file has been described. */
        not_read: number | null;
      }>;
    };
    /** Automated classification into closed lists; it can be wrong. `none`: analysed, nothing found. */
    CreativeFields: {
      /** How the creative begins. Null: not analysed. */
      hook: components["schemas"]["CreativeHook"] | null;
      /** How it is made. Null: not analysed. */
      style: components["schemas"]["CreativeStyle"] | null;
      /** Who speaks or is shown. Null: not analysed. */
      presenter: components["schemas"]["CreativePresenter"] | null;
      /** Place at which it plays. Null: not analysed. */
      setting: components["schemas"]["CreativeSetting"] | null;
      /** The mood that it speaks in. Null: not analysed. */
      tone: components["schemas"]["CreativeTone"] | null;
      /** Kind of offer that it makes. Null: not analysed. */
      offer: components["schemas"]["CreativeOffer"] | null;
      /** Sounds that are heard. Null: not analysed. */
      audio: components["schemas"]["CreativeAudio"] | null;
    };
    /** How the creative begins. */
    CreativeHook: "question" | "problem" | "claim" | "demonstration" | "testimonial" | "offer" | "story" | "none";
    /** A sample of the active ads of a brand, with totals. */
    CreativeLibrary: {
      brand: components["schemas"]["BrandReference"];
      /** Maximum ads in both samples together. */
      sample_cap: number;
      /** Active ads with stored media, oldest first. */
      longest_running: Array<components["schemas"]["LibraryAd"]>;
      /** Active ads with stored media, newest first; excludes ads of the oldest sample. */
      newest: Array<components["schemas"]["LibraryAd"]>;
      /** Figures over all active ads, not over the samples. */
      totals: {
        /** All active ads, with stored media or without. */
        active_ads: number;
        /** Active ads with at least one archived file. */
        with_stored_media: number;
        formats: components["schemas"]["Formats"];
        /** Active ads by button, most ads first, at most 20. */
        ctas: Array<{
          /** The library's code of the button, such as `SHOP_NOW`; null: none observed. */
          cta_type: string | null;
          /** Active ads with this button. */
          ads: number;
        }>;
        /** Active ads by days from start, or first sighting, to the brand's last scan: survival, not performance. */
        longevity: {
          /** Active ads that have run for less than 7 days. */
          days_0_6: number;
          /** Active ads that have run for 7 to 29 days. */
          days_7_29: number;
          /** Active ads that have run for 30 to 89 days. */
          days_30_89: number;
          /** Active ads that have run for 90 days or more. */
          days_90_plus: number;
          /** Days of the longest-running one; null without an active ad. */
          longest_days: number | null;
        };
      };
    };
    /** Kind of offer that it makes. */
    CreativeOffer: "discount" | "bundle" | "gift" | "free_shipping" | "trial" | "guarantee" | "none";
    /** Who speaks or is shown. */
    CreativePresenter: "creator" | "customer" | "founder" | "expert" | "actor" | "voice_over" | "none";
    /** One creative file with all that was read of it. */
    CreativeRecord: {
      /** SHA-256 of the file, in hex. */
      creative_key: string;
      media_kind: components["schemas"]["MediaKind"];
      /** Media type, such as `video/mp4`; null: not measured. */
      content_type: string | null;
      /** Size of the file in bytes; null: not measured. */
      bytes: number | null;
      /** In pixels; null: not measured. */
      width: number | null;
      /** In pixels; null: not measured. */
      height: number | null;
      /** Length of a video in seconds; null: an image, or not measured. */
      duration_seconds: number | null;
      /** URL of the stored file; null when it is not stored. */
      media_url: string | null;
      /** Still image of the file; null when none is stored. */
      poster_url: string | null;
      depth: components["schemas"]["AnalysisDepth"];
      fields: components["schemas"]["CreativeFields"];
      /** First 300 characters of the transcript; null: not transcribed. */
      transcript_excerpt: string | null;
      /** Ads not confirmed inactive that carry the file, or a file with the same picture by its perceptual hash; never spend. */
      active_ads: number;
      /** Ads ever seen to carry the file or one with the same picture. */
      total_ads: number;
      /** When the file was first observed. */
      stored_at: string;
      /** When a measurement or analysis last found something new. */
      as_of: string;
      /** Address of the record in this API. */
      url: string;
      /** Times of the frames extracted from a video; null: none were extracted. */
      frame_times_seconds: Array<number> | null;
      /** Times of the frames that were analysed; null: not analysed. */
      read_frame_times_seconds: Array<number> | null;
      /** The words that are spoken; null: not read. */
      transcript: {
        /** Text before corrections; empty when there is no speech. */
        text: string;
        /** Language tag, such as `en-US`; null: not recognised. */
        language: string | null;
        /** Corrected passages; null: not checked. */
        corrections: Array<{
          /** Passage as it stands in `text`. */
          heard: string;
          /** Passage to read in its place. */
          meant: string;
        }> | null;
      } | null;
      /** Words shown on screen, in order; null: not analysed. */
      shown_texts: Array<string> | null;
      /** Brands whose ads carry the file or its picture, most ads first, at most 20. */
      brands: Array<{
        brand: components["schemas"]["BrandReference"];
        /** Its ads among them that are not confirmed inactive. */
        active_ads: number;
        /** Its ads among them, inactive ones included. */
        total_ads: number;
      }>;
      /** Ads that carry the file or its picture, active ones and then newest first, at most 100. */
      ads: Array<{
        /** The library's id of the ad: digits, beyond 2^53, hence a string. */
        id: string;
        /** Stable id of the brand, `{brandId}` in paths. */
        brand_id: string;
        /** Whether the ad is not confirmed inactive. */
        active: boolean;
        /** Id of the file in this ad, `{creativeId}` in paths. */
        creative_id: string;
        /** Address of the ad in this API. */
        url: string;
      }>;
    };
    /** One creative file, whichever ads carry it. */
    CreativeRecordSummary: {
      /** SHA-256 of the file, in hex. */
      creative_key: string;
      media_kind: components["schemas"]["MediaKind"];
      /** Media type, such as `video/mp4`; null: not measured. */
      content_type: string | null;
      /** Size of the file in bytes; null: not measured. */
      bytes: number | null;
      /** In pixels; null: not measured. */
      width: number | null;
      /** In pixels; null: not measured. */
      height: number | null;
      /** Length of a video in seconds; null: an image, or not measured. */
      duration_seconds: number | null;
      /** URL of the stored file; null when it is not stored. */
      media_url: string | null;
      /** Still image of the file; null when none is stored. */
      poster_url: string | null;
      depth: components["schemas"]["AnalysisDepth"];
      fields: components["schemas"]["CreativeFields"];
      /** First 300 characters of the transcript; null: not transcribed. */
      transcript_excerpt: string | null;
      /** Ads not confirmed inactive that carry the file, or a file with the same picture by its perceptual hash; never spend. */
      active_ads: number;
      /** Ads ever seen to carry the file or one with the same picture. */
      total_ads: number;
      /** When the file was first observed. */
      stored_at: string;
      /** When a measurement or analysis last found something new. */
      as_of: string;
      /** Address of the record in this API. */
      url: string;
    };
    /** Place at which it plays. */
    CreativeSetting: "home" | "outdoors" | "studio" | "store" | "workplace" | "vehicle" | "none";
    /** How it is made. */
    CreativeStyle: "creator" | "studio" | "lifestyle" | "product_only" | "animation" | "screen_recording" | "text_only";
    /** The mood that it speaks in. */
    CreativeTone: "humorous" | "urgent" | "emotional" | "informative" | "inspirational" | "neutral";
    /** Ads of a brand on one observed day. */
    DailyActivity: {
      /** An observed UTC day; other days are absent, not zero. */
      date: string;
      /** Ads not confirmed inactive, by the last scan of the day. */
      active_ads: number;
      /** Ads first seen that day; one found long after it began is not new. */
      new_ads: number;
      /** Ads that scans of the day confirmed inactive. */
      retired_ads: number;
      /** Whether complete scans covered every page linked to the brand that day. */
      reliable: boolean;
    };
    /** An empty object. */
    DeleteAlert: Record<string, never>;
    /** An empty object. */
    DeleteCollection: Record<string, never>;
    /** An empty object. */
    DeleteNote: Record<string, never>;
    /** The result of deleting a rule with its deliveries. */
    DeletedAlert: {
      /** Stable id of the rule, `{alertId}` in paths. */
      alert_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** False when no such rule existed. */
      removed: boolean;
    };
    /** The result of deleting a collection and all inside it. */
    DeletedCollection: {
      /** Stable id of the collection, `{collectionId}` in paths. */
      collection_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** False when it was already deleted. */
      removed: boolean;
    };
    /** The result of deleting a note. */
    DeletedNote: {
      /** Id of the note in the path. */
      note_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** False when no such note existed. */
      removed: boolean;
    };
    /** `alert`: a match; `digest`: all matches of a day or week; `test`: a requested sample; `notice`: a channel of the rule was suspended. */
    DeliveryKind: "alert" | "digest" | "test" | "notice";
    /** Why a delivery was sent, with all that it takes to check it. */
    DeliveryProof: {
      statement: components["schemas"]["DeliveryStatement"];
      /** Rule of the statement, in a sentence. */
      rule: string;
      /** Events recorded by the moment, on which the statement rests. */
      events_counted: number;
      /** Events of the same streams about what was observed by the moment, recorded only afterwards. */
      events_left_out: number;
      /** The newest digest of the log; null: none is signed yet, and nothing attests the events of the bundle. */
      digest: components["schemas"]["LogDigest"] | null;
      /** Events of the streams that were recorded after this digest. */
      events_not_attested: number;
      /** Signed link to the bundle, NDJSON with every event of the streams. It needs no key. `npm run ops -- proof verify FILE` checks a bundle without this service. */
      bundle_url: string;
      /** When the link expires. */
      expires_at: string;
      delivery: components["schemas"]["AlertPayload"];
      /** The reason of each item that the delivery lists. */
      reasons: Array<{
        /** Id of the item; null for a delivery that matches no event. */
        item_id: string | null;
        /** Why it was sent, in a sentence. */
        reason: string;
      }>;
      /** A sentence for each thing of the delivery that the events do not give; empty for most. */
      faults: Array<string>;
    };
    /** A delivery of an alert rule, as it was queued. */
    DeliveryStatement: {
      /** Subject of the statement. */
      about: "delivery";
      /** The workspace of the rule. */
      workspace_id: string;
      /** Id of the rule. */
      alert_id: string;
      /** Value of `webhook-id` in each attempt. */
      delivery_id: string;
      /** The moment: events recorded by then count. */
      as_of: string;
      /** Streams whose events give it, with the last event read of each. */
      streams: Array<{
        /** Name of the stream. */
        stream: string;
        /** Revision of the last event that was read. */
        revision: string;
      }>;
    };
    /** `queued` before its first attempt, `retrying` while another is due, then `delivered`, `failed` or `cancelled`. */
    DeliveryStatus: "queued" | "retrying" | "delivered" | "failed" | "cancelled";
    /** Estimated shares of visitors, 0 to 1; null when the provider states none. */
    Demographics: {
      /** Estimated share of women among visitors, 0 to 1; null: not stated. */
      female: number | null;
      /** Estimated share of men among visitors, 0 to 1; null: not stated. */
      male: number | null;
      /** Estimated share of people of 18 to 24 years among visitors, 0 to 1; null: not stated. */
      age_18_24: number | null;
      /** Estimated share of people of 25 to 34 years among visitors, 0 to 1; null: not stated. */
      age_25_34: number | null;
      /** Estimated share of people of 35 to 44 years among visitors, 0 to 1; null: not stated. */
      age_35_44: number | null;
      /** Estimated share of people of 45 to 54 years among visitors, 0 to 1; null: not stated. */
      age_45_54: number | null;
      /** Estimated share of people of 55 to 64 years among visitors, 0 to 1; null: not stated. */
      age_55_64: number | null;
      /** Estimated share of people of 65 years or more among visitors, 0 to 1; null: not stated. */
      age_65_plus: number | null;
    };
    /** A channel to an address of the rule, which can be suspended. */
    EndpointChannel: "webhook" | "chat";
    /** The body of every 4xx and 5xx reply. */
    Error: {
      /** Why the request failed. */
      error: {
        /** Class of the error, one for each group of statuses. */
        type: "bad_request" | "unauthorized" | "payment_required" | "forbidden" | "not_found" | "conflict" | "rate_limited" | "internal" | "unavailable";
        /** What went wrong, and what to do; its words may change. */
        message: string;
        /** HTTP status of the reply. */
        status: number;
        /** The same as the header `x-request-id`; report it. */
        request_id: string;
        /** Single faults, the first 50; absent without any. */
        details?: Array<components["schemas"]["ErrorDetail"]>;
      };
    };
    /** One fault of the request. */
    ErrorDetail: {
      /** Name of the parameter, or path of the body property. */
      path: string;
      /** What is wrong, for people; its words may change. */
      message: string;
      code: components["schemas"]["ErrorDetailCode"];
    };
    /**
     * Stable name of the fault.
     * - `invalid_type`: The value is missing, or has another type than the schema.
     * - `too_big`: The number, text or list is larger than the maximum.
     * - `too_small`: The number, text or list is smaller than the minimum.
     * - `invalid_format`: The text does not have the required format, such as that of a uuid or a date.
     * - `not_multiple_of`: The number is not a multiple of the required step.
     * - `unrecognized_keys`: The endpoint has no parameter or property of this name.
     * - `invalid_union`: The value fits none of the allowed forms.
     * - `invalid_key`: The name of an entry is not allowed.
     * - `invalid_element`: The value of an entry is not allowed.
     * - `invalid_value`: The value is not one of the closed list.
     * - `custom`: A rule that the message states is broken, such as one over two properties.
     * - `invalid_cursor`: The cursor was altered, or is of another endpoint, workspace or filter.
     * - `invalid_token`: The token was altered, or is of another endpoint, workspace or brand.
     * - `unknown_member`: The workspace has no member of this id.
     * - `not_tracked`: The workspace does not track the brand.
     * - `brand_known`: The service knows the brand of the domain; the message has its address and id.
     * - `no_channel`: The alert rule would have no channel to send on.
     * - `target_refused`: The address of a webhook or chat tool cannot be used; the message says why.
     * - `window_reversed`: The last day is before the first.
     * - `never_reached`: A threshold that no message of the rule reaches.
     * - `window_too_long`: The window has more days than a report covers.
     * - `window_in_future`: The window ends after today, in UTC.
     * - `moment_in_future`: The moment is later than now.
     * - `before_first_event`: The moment is earlier than all that is known about the subject.
     * - `late_observation`: The moment is between a late scan and a newer one that was recorded before it.
     * - `body_missing`: The endpoint requires a JSON body.
     * - `body_not_allowed`: The endpoint takes no body.
     * - `body_too_large`: The body is larger than the maximum.
     * - `invalid_json`: The body is not valid JSON.
     * - `invalid_utf8`: A part of the request is not valid UTF-8.
     * - `content_type`: The body is not sent as `application/json`.
     * - `content_encoding`: The body is compressed or otherwise encoded.
     * - `header_missing`: The request lacks a header that HTTP requires.
     * - `headers_too_large`: Address and headers together are larger than the maximum.
     * - `method_not_allowed`: The path has no endpoint with this method.
     * - `path_too_long`: A part of the path is longer than the maximum.
     * - `request_timeout`: The request did not arrive in time.
     * - `not_http`: The bytes received are not an HTTP request.
     * - `bad_request`: The request breaks a rule of HTTP that the message states.
     * - `fst_err_bad_url`: The path has an incomplete or unreadable percent-encoding.
     * - `fst_err_ctp_invalid_content_length`: The body is shorter or longer than `content-length`.
     * - `fst_err_ctp_invalid_media_type`: The header `content-type` cannot be read.
     */
    ErrorDetailCode: "invalid_type" | "too_big" | "too_small" | "invalid_format" | "not_multiple_of" | "unrecognized_keys" | "invalid_union" | "invalid_key" | "invalid_element" | "invalid_value" | "custom" | "invalid_cursor" | "invalid_token" | "unknown_member" | "not_tracked" | "brand_known" | "no_channel" | "target_refused" | "window_reversed" | "never_reached" | "window_too_long" | "window_in_future" | "moment_in_future" | "before_first_event" | "late_observation" | "body_missing" | "body_not_allowed" | "body_too_large" | "invalid_json" | "invalid_utf8" | "content_type" | "content_encoding" | "header_missing" | "headers_too_large" | "method_not_allowed" | "path_too_long" | "request_timeout" | "not_http" | "bad_request" | "fst_err_bad_url" | "fst_err_ctp_invalid_content_length" | "fst_err_ctp_invalid_media_type";
    /** Link to the full evidence of a signal. */
    Evidence: {
      /** Kind of record behind `url`. */
      resource: "radar" | "ad" | "ads" | "daily_activity" | "social_pages" | "store";
      /** Address in this API, readable with the same key. */
      url: string;
    };
    /** The step that failed: `http` is a status other than 2xx, `blocked_target` an address that this service does not call. */
    FailureClass: "timeout" | "connection" | "dns" | "tls" | "http" | "blocked_target";
    /** Bounds of the true figure, by what was observed. */
    FigureBounds: {
      figure: components["schemas"]["FigureName"];
      /** How the figure is counted. */
      rule: string;
      /** First day of the window; null: a figure without. */
      from: string | null;
      /** Last day of the window; null: a figure without. */
      to: string | null;
      /** The figure as it was observed. */
      value: number;
      /** The true figure is not below. */
      at_least: number;
      /** Why it is not below. */
      at_least_reason: string;
      /** The true figure is not above; null: nothing bounds it, because something was not looked at. */
      at_most: number | null;
      /** Why it is not above, or what was not looked at. */
      at_most_reason: string;
      /** Number of linked pages that the bounds are about. */
      pages: number;
      /** Countries that the bounds are about: those that scans of the linked pages asked for, up to 28 days before the first day that counts. */
      countries: Array<string>;
      /** Days that count and were not reliable, or on which no complete scan covered a page in a country. Days before the window count where what was seen then decides what is new or stopped in it. */
      uncovered_days: Array<string>;
      /** Complete scans that would narrow the bounds, at most 100, by day, page and country. Those of past days count if a collector made them and sends them late. A figure of the present is also narrowed by complete scans of all pages on a later day. */
      narrowed_by: Array<{
        /** The network's id of the page: digits, beyond 2^53, hence a string. */
        page_id: string;
        /** Country that the scan asked for; `ALL`: all countries at once. */
        country: string;
        /** Day of which the scan is missing. */
        day: string;
      }>;
      /** Number of such scans. */
      narrowed_by_total: number;
    };
    /** Name of a figure. */
    FigureName: "active_ads" | "total_ads" | "new_ads" | "retired_ads";
    /** A figure of a brand, as known at a moment. */
    FigureStatement: {
      /** Subject of the statement. */
      about: "figure";
      /** Uuid of the brand. */
      brand_id: string;
      figure: components["schemas"]["FigureName"];
      /** First UTC day; null: the figure has no window. */
      from: string | null;
      /** Last UTC day; null: the figure has no window. */
      to: string | null;
      /** The figure. */
      value: number;
      /** The moment: events recorded by then count. */
      as_of: string;
      /** Streams whose events give it, with the last event read of each. */
      streams: Array<{
        /** Name of the stream. */
        stream: string;
        /** Revision of the last event that was read. */
        revision: string;
      }>;
    };
    /** What formats the active ads of a brand have. */
    FormatBreakdown: {
      formats: components["schemas"]["Formats"];
      /** Last scan of the brand, or its profile while it was never scanned. */
      as_of: string;
    };
    /** Active ads by creative format. */
    Formats: {
      /** Ads whose creative is one video. */
      video: number;
      /** Ads whose creative is one still picture. */
      image: number;
      /** Ads with several cards to swipe through. */
      carousel: number;
      /** Dynamic creatives, which the network puts together for each viewer. */
      dco: number;
      /** Ads of another format, or whose format was not observed. */
      other: number;
    };
    /** How recent the figures of a brand are. */
    Freshness: {
      /** When the brand was last scanned; null: never. */
      as_of: string | null;
      /** The last scan that made its day reliable; null: there was none. */
      last_reliable_at: string | null;
      /** When the next scan is due by its tier; null for a brand neither scanned nor tracked. */
      next_due: string | null;
      /** How often the brand is scanned: daily or weekly while a workspace tracks it so, else `census`, every 30 days. */
      freshness_tier: "daily" | "weekly" | "census";
    };
    /** The workspace's verdict on a brief. */
    GiveBriefFeedback: {
      /** The verdict; null clears an earlier one. */
      feedback: components["schemas"]["BriefFeedback"] | null;
    };
    /** A page that runs ads for two or more brands: an observed association. */
    Hub: {
      page: components["schemas"]["AdPage"];
      /** Followers that the page shows; null: not stated. */
      followers: number | null;
      /** Public brands with active ads on the page. */
      brands: number;
      /** Live creatives: active ads of these brands on the page. */
      active_ads: number;
      /** Its brands, most active ads first, at most 50. */
      roster: Array<{
        brand: components["schemas"]["BrandReference"];
        /** Its active ads on the page. */
        active_ads: number;
      }>;
    };
    /** A scan that left ads out. It proves no absence. */
    IncompleteScan: {
      /** Time of the scan. */
      scanned_at: string;
      /** Linked pages that it did not read to the end. */
      page_ids: Array<string>;
      /** Countries that it asked for. */
      countries: Array<string>;
      /** Collector that made the scan. */
      collector: string;
    };
    /** An empty object. */
    IssueWebhookSecret: Record<string, never>;
    /** The new signing secret of the workspace. */
    IssuedWebhookSecret: {
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** The signing secret, shown only in this reply: store it now. */
      webhook_secret: string;
      /** True when it replaced another secret, which no longer signs. */
      rotated: boolean;
      /** When it was made; it signs from then on. */
      created_at: string;
    };
    /** An item by type and key. Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
    ItemReference: {
      /** Decides the format of `item_key`. */
      item_type: "ad";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
    } | {
      /** Decides the format of `item_key`. */
      item_type: "brand";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
    } | {
      /** Decides the format of `item_key`. */
      item_type: "creative";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
    } | {
      /** Decides the format of `item_key`. */
      item_type: "creative_record";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
    } | {
      /** Decides the format of `item_key`. */
      item_type: "page";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
    };
    /** Decides the format of `item_key`. */
    ItemType: "ad" | "brand" | "creative" | "creative_record" | "page";
    /** A landing page with what was read of it. */
    LandingPage: {
      /** Stable id of the page, derived from its address; `{pageId}` in paths. */
      id: string;
      /** URL of the page, without tracking and other parameters that do not select a page. */
      page_url: string;
      /** Host of the address, which may be that of a shop platform. */
      host: string;
      /** Its HTML title; null: not read. */
      title: string | null;
      /** Automated classification, which can be wrong; null: not classified. */
      page_type: components["schemas"]["PageType"] | null;
      /** How sure the classifier is, 0 to 1; null: not classified. */
      page_type_confidence: number | null;
      /** False when the last visit found the page gone. A page never visited is live. */
      live: boolean;
      /** The public brand that owns the domain of the host; null on other hosts. */
      brand: components["schemas"]["BrandReference"] | null;
      /** Ads not confirmed inactive that lead here, by their own link or the link of a card. */
      active_ads: number;
      /** Ads ever seen to lead here. */
      total_ads: number;
      /** When the page was first observed, such as in the link of an ad. */
      first_seen_at: string;
      /** Newest observation of the page: an ad that began to lead here, a visit, or a classification. */
      as_of: string;
      /** Address of the page in this API. */
      url: string;
      /** Public brands whose ads lead here, most ads first, at most 20. */
      brands: Array<{
        brand: components["schemas"]["BrandReference"];
        /** Its ads not confirmed inactive that lead here. */
        active_ads: number;
        /** Its ads ever seen to lead here. */
        total_ads: number;
      }>;
      /** Its HTML description; null: not read. */
      description: string | null;
      /** Language tag that the page declares, such as `en-US`; null: none, or not read. */
      language: string | null;
      /** The address that the page names as its own; null: it names none, or was not read. */
      canonical_url: string | null;
      /** HTTP status of the last visit, after redirects; null: never visited, or no answer. */
      http_status: number | null;
      /** Headings of the page, in their order; null: not read. */
      headings: Array<string> | null;
      /** Texts of call-to-action buttons; null: not scraped. */
      cta_texts: Array<string> | null;
      /** When a visit last found something new; null: never visited. */
      scraped_at: string | null;
      /** When the classification last changed; null: never classified. */
      classified_at: string | null;
    };
    /** A landing page that ads were seen to lead to. */
    LandingPageSummary: {
      /** Stable id of the page, derived from its address; `{pageId}` in paths. */
      id: string;
      /** URL of the page, without tracking and other parameters that do not select a page. */
      page_url: string;
      /** Host of the address, which may be that of a shop platform. */
      host: string;
      /** Its HTML title; null: not read. */
      title: string | null;
      /** Automated classification, which can be wrong; null: not classified. */
      page_type: components["schemas"]["PageType"] | null;
      /** How sure the classifier is, 0 to 1; null: not classified. */
      page_type_confidence: number | null;
      /** False when the last visit found the page gone. A page never visited is live. */
      live: boolean;
      /** The public brand that owns the domain of the host; null on other hosts. */
      brand: components["schemas"]["BrandReference"] | null;
      /** Ads not confirmed inactive that lead here, by their own link or the link of a card. */
      active_ads: number;
      /** Ads ever seen to lead here. */
      total_ads: number;
      /** When the page was first observed, such as in the link of an ad. */
      first_seen_at: string;
      /** Newest observation of the page: an ad that began to lead here, a visit, or a classification. */
      as_of: string;
      /** Address of the page in this API. */
      url: string;
    };
    /** Where the brand's active ads run. */
    Leakage: {
      /** All of the brand's active ads; the next four add up to it. */
      active_ads: number;
      /** Ads on pages linked to the brand as `OFFICIAL` or `REGIONAL`. */
      own_page_ads: number;
      /** Ads on pages linked to the brand in any other role, or to other brands only. */
      third_party_ads: number;
      /** Ads on named pages that are linked to no brand: their owner is unknown. */
      unlinked_page_ads: number;
      /** Ads whose page no source named; they count neither as own nor as foreign. */
      unnamed_page_ads: number;
      /** Own pages with active ads. */
      own_pages: number;
      /** Pages of third parties with active ads. */
      third_party_pages: number;
      /** Pages linked to no brand with active ads. */
      unlinked_pages: number;
      /** Third-party pages, most active ads first, at most 10. */
      largest_third_party_pages: Array<{
        page: components["schemas"]["AdPage"];
        /** Observed role of the page for the brand; null: it is linked to other brands only. */
        role: components["schemas"]["PageRole"] | null;
        /** The brand's active ads on the page. */
        active_ads: number;
      }>;
    };
    /** A sampled active ad with its archived files. */
    LibraryAd: {
      /** The library's id of the ad: digits, beyond 2^53, hence a string. */
      id: string;
      /** The social page that runs the ad; null when no source named it. */
      page: components["schemas"]["AdPage"] | null;
      format: components["schemas"]["AdFormat"];
      /** Headline of the ad; null: none observed. */
      title: string | null;
      /** The first 300 characters; null: none observed. */
      body: string | null;
      /** The library's code of the button, such as `SHOP_NOW`; null: none observed. */
      cta_type: string | null;
      /** Start date in the library; null: it states none. */
      started_on: string | null;
      /** Days from the start date, else the first sighting, to the last sighting as running: observed survival, not performance. Null when it was never seen running. */
      days_active: number | null;
      /** Its archived assets, at most four. */
      creatives: Array<components["schemas"]["Creative"]>;
      /** Address of the ad in this API. */
      url: string;
    };
    /** Metadata of a list without pages. */
    ListMeta: {
      /** The same as the header `x-request-id`. */
      request_id: string;
      /** Time at which the figures hold. Quote it with them. */
      as_of: string;
      /** Age of `as_of` in hours. */
      lag_hours?: number;
      /** Items in this reply. */
      count: number;
    };
    /** An item of a collection, with the thing behind it when asked for. */
    ListedCollectionItem: {
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** Id of the member who added it. */
      created_by: string;
      /** When it was added. */
      created_at: string;
      /** With `include=record` only: the thing itself. Null when this service does not have it, or when the key may not read things of its type. */
      record?: components["schemas"]["AdSummary"] | components["schemas"]["BrandSummary"] | components["schemas"]["Creative"] | components["schemas"]["CreativeRecordSummary"] | components["schemas"]["LandingPage"] | null;
    };
    /** A signed digest of the log. */
    LogDigest: {
      /** Version of this form. */
      digest_version: 1;
      /** Number of the digest, from 1 without gaps. */
      sequence: number;
      /** When it was signed. */
      made_at: string;
      /** When the last event that it covers was recorded. */
      recorded_until: string;
      /** Events of the log up to then. */
      events: number;
      /** Streams with such an event; each is a leaf of the tree. */
      streams: number;
      /** Root of the Merkle tree over the streams. */
      root: string;
      /** SHA-256 of the canonical text of the digest before it; 64 zeros for the first. */
      previous_digest: string;
      /** First 16 digits of the SHA-256 of the public key. */
      public_key_id: string;
      /** Ed25519 key that checks the signature, as SPKI in base64. It proves nothing by itself: compare it with the one that you know. */
      public_key: string;
      /** Ed25519 signature over the canonical text (RFC 8785) of all other fields. */
      signature: string;
    };
    /** What a text from outside means in the corpus. */
    Lookup: {
      /** Exact ones first; otherwise in the order brand, social page, landing page, ad. */
      matches: Array<components["schemas"]["LookupMatch"]>;
      /** What would make it known; null when something was found. */
      advice: string | null;
    };
    /** Something of the corpus that a text names. */
    LookupMatch: {
      /** What was found. */
      kind: "brand" | "social_page" | "landing_page" | "ad";
      /** Uuid of a brand or landing page; id of a social page or an ad in the library, digits. */
      id: string;
      /** Name or title; null when none was observed. */
      name: string | null;
      /** The brand itself, the brand of the ad, or the brand that a page belongs to; null when that is not known. */
      brand: components["schemas"]["BrandReference"] | null;
      /** Address of the record in this API; null for a social page whose brand is not known. */
      url: string | null;
      /** `exact`: the text names it. `likely`: it fits, and others may too. */
      certainty: "exact" | "likely";
      /** Why it was found, in a sentence. */
      reason: string;
    };
    /** Who is calling, and what it may do. Clients read this first. */
    Me: {
      /** Id of the workspace; stands for `{ws}` in paths. */
      workspace_id: string;
      /** Name to show; null while it is not known yet. */
      workspace_name: string | null;
      /** The member who owns the calling key or signed in. */
      member: {
        /** Stable id of the member. */
        id: string;
        /** Name to show; null for an erased member. */
        name: string | null;
      };
      /** Id of the calling key, or of the sign-in that calls. */
      key_id: string;
      role: components["schemas"]["MemberRole"];
      /** Plan of the workspace; it decides the slots and the requests per minute. */
      plan: "free" | "pro" | "business" | "enterprise";
      /** What this key may do now. */
      scopes: Array<components["schemas"]["Scope"]>;
      /** Slots of the plan and how many are in use. */
      tracked_brands: {
        /** Brands that the workspace tracks. */
        used: number;
        /** Brands that the plan allows to track; one more is refused with 402. */
        slots: number;
      };
      /** Limit of the plan, over all keys of the workspace. */
      requests_per_minute: number;
    };
    /** What kind of file it is. */
    MediaKind: "image" | "video";
    /** A member of the workspace. */
    Member: {
      /** Stable id of the member. */
      id: string;
      /** Name to show; null for an erased member. */
      name: string | null;
      role: components["schemas"]["MemberRole"];
      /** When the member was added. */
      added_at: string;
    };
    /** Present role of the member; it limits the scopes of every key of the member. */
    MemberRole: "viewer" | "editor" | "admin" | "owner";
    /** Metadata of one record. */
    Meta: {
      /** The same as the header `x-request-id`. */
      request_id: string;
      /** Time at which the figures hold. Quote it with them. */
      as_of: string;
      /** Age of `as_of` in hours. */
      lag_hours?: number;
    };
    /** A brand known before the window that first advertised within it. */
    NewAdvertiser: {
      /** Place in the whole list, from 1 on its first page. */
      rank: number;
      brand: components["schemas"]["BrandSummary"];
      /** When the first ad attributed to it started. */
      first_ad_started_on: string;
      /** Its ads not confirmed inactive when the list was written. */
      active_ads: number;
    };
    /** What a member writes on a subject; each member has at most one note on it. */
    Note: {
      /** Stable id of the note, `{noteId}` in paths; unchanged when the note is replaced. */
      id: string;
      subject_type: components["schemas"]["SubjectType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
      /** Id of the member who wrote the note. */
      created_by: string;
      /** When it was first written. */
      created_at: string;
      /** When it was last replaced. */
      updated_at: string;
    };
    /** A company with the brands, domains and pages it was observed with. */
    Operator: {
      /** Stable id of the company; paths take it as `{operatorId}`. */
      id: string;
      /** The company as its source writes it. */
      name: string;
      /** Where the company sits, ISO 3166-1 alpha-2; null: no source states it. */
      country: string | null;
      /** Domains that it was observed with. */
      domains: number;
      /** Social pages that it was observed with. */
      pages: number;
      /** When something new about it was last observed. */
      observed_at: string;
      /** Address of the operator in this API. */
      url: string;
      /** Public brands whose domain was observed with it. */
      public_brands: number;
      /** The public brands whose domain was observed with it, by name, at most 200. */
      brands: Array<components["schemas"]["BrandReference"]>;
      /** Domains that it was observed with, by name, at most 200. */
      domain_associations: Array<{
        /** Domain of a site. */
        domain: string;
        /** Sources of the association. */
        bases: Array<components["schemas"]["OperatorBasis"]>;
      }>;
      /** Pages that it was observed with, by id, at most 200. */
      page_associations: Array<{
        /** The network's id of the page: digits, beyond 2^53, hence a string. */
        page_id: string;
        /** Sources of the association. */
        bases: Array<components["schemas"]["OperatorBasis"]>;
      }>;
    };
    /** Kind of source that names the operator. */
    OperatorBasis: "company_register" | "site_imprint" | "page_transparency" | "trademark_register" | "filing";
    /** An operator observed with the brand's domain. */
    OperatorOfBrand: {
      /** Stable id of the company; paths take it as `{operatorId}`. */
      id: string;
      /** The company as its source writes it. */
      name: string;
      /** Where the company sits, ISO 3166-1 alpha-2; null: no source states it. */
      country: string | null;
      /** Domains that it was observed with. */
      domains: number;
      /** Social pages that it was observed with. */
      pages: number;
      /** When something new about it was last observed. */
      observed_at: string;
      /** Address of the operator in this API. */
      url: string;
      /** Sources of the association. */
      bases: Array<components["schemas"]["OperatorBasis"]>;
      /** The operator's other public brands by name, at most 50. */
      other_brands: Array<components["schemas"]["BrandReference"]>;
    };
    /** A company observed with several domains or pages. */
    OperatorSummary: {
      /** Stable id of the company; paths take it as `{operatorId}`. */
      id: string;
      /** The company as its source writes it. */
      name: string;
      /** Where the company sits, ISO 3166-1 alpha-2; null: no source states it. */
      country: string | null;
      /** Domains that it was observed with. */
      domains: number;
      /** Social pages that it was observed with. */
      pages: number;
      /** When something new about it was last observed. */
      observed_at: string;
      /** Address of the operator in this API. */
      url: string;
      /** Public brands whose domain was observed with it. */
      public_brands: number;
    };
    /** Metadata of one page of a list. */
    PageMeta: {
      /** The same as the header `x-request-id`. */
      request_id: string;
      /** Time at which the figures hold. Quote it with them. */
      as_of: string;
      /** Age of `as_of` in hours. */
      lag_hours?: number;
      /** Cursor of the next page. Absent on the last page. */
      cursor?: string;
      /** Items on this page. */
      count: number;
    };
    /** Observed role of the page for the brand; `UNVERIFIED` when the claimed role may not be published. */
    PageRole: "OFFICIAL" | "REGIONAL" | "CREATOR" | "PARTNER" | "RESELLER" | "UNVERIFIED";
    /** Kind of landing page, by an automated classification that can be wrong. */
    PageType: "home" | "product" | "collection" | "bundle" | "offer" | "quiz" | "listicle" | "advertorial" | "article" | "lead_form" | "subscription" | "store_locator" | "checkout" | "other";
    /** Branded content with one creator, as shown on ads; it is no evidence of a contract. */
    Partnership: {
      /** The partner page. */
      creator: {
        /** The network's id of the page; null when the library gave only its name. */
        page_id: string | null;
        /** As last observed; null: never observed. */
        page_name: string | null;
      };
      /** Branded-content ads within the window; the next two counts add up to it. */
      ads: number;
      /** Ads run by the brand's page, naming the creator. */
      brand_page_ads: number;
      /** Ads run by the creator's page. */
      creator_page_ads: number;
      /** Of `ads`, those not confirmed inactive. */
      active_ads: number;
      /** When the first of these ads was first seen. */
      first_seen_on: string;
      /** When one of them was last seen. */
      last_seen_on: string;
    };
    /** A figure with all that it takes to check it. */
    Proof: {
      statement: components["schemas"]["FigureStatement"];
      /** Rule of the statement, in a sentence. */
      rule: string;
      /** Events recorded by the moment, on which the statement rests. */
      events_counted: number;
      /** Events of the same streams about what was observed by the moment, recorded only afterwards. */
      events_left_out: number;
      /** The newest digest of the log; null: none is signed yet, and nothing attests the events of the bundle. */
      digest: components["schemas"]["LogDigest"] | null;
      /** Events of the streams that were recorded after this digest. */
      events_not_attested: number;
      /** Signed link to the bundle, NDJSON with every event of the streams. It needs no key. `npm run ops -- proof verify FILE` checks a bundle without this service. */
      bundle_url: string;
      /** When the link expires. */
      expires_at: string;
    };
    /** Hours in which instant alerts wait. They are sent one by one when the hours have ended. */
    QuietHours: {
      /** Their start, such as `22:00`, in the time zone. */
      from: string;
      /** Their end, such as `07:00`: on the next day unless it is later than `from`. */
      to: string;
      /** Name in the IANA database, such as `Europe/Vienna`. */
      time_zone: string;
    };
    /** Radar items of a week, by type. */
    RadarChangeCounts: {
      /** Ads seen for the first time that are news. */
      ads_started: number;
      /** Ads confirmed inactive. */
      ads_stopped: number;
      /** Changes of the link of an ad. */
      destinations_changed: number;
    };
    /** How a scan that arrived late corrects what was reported. */
    RadarCorrection: "withdrawn" | "added" | "changed";
    /** An observed change of one ad, without a cause. */
    RadarItem: {
      /** Stable id: derived from the change. */
      id: string;
      type: components["schemas"]["RadarItemType"];
      /** Time of the scan that showed the change. */
      observed_at: string;
      brand: components["schemas"]["BrandReference"];
      /** The ad that changed, as it was then. */
      ad: {
        /** The library's id of the ad: digits, beyond 2^53, hence a string. */
        id: string;
        /** The social page that runs the ad; null when no source named it. */
        page: components["schemas"]["AdPage"] | null;
        format: components["schemas"]["AdFormat"];
        /** Headline of the ad; null: none observed. */
        title: string | null;
        /** The first 300 characters; null: none observed. */
        body: string | null;
        /** Start date in the library; null: it states none. */
        started_on: string | null;
        /** Address of the ad in this API. */
        url: string;
      };
      /** Destination of the ad; after a change, the new one; null: no link observed. */
      destination_url: string | null;
      /** Destination before the change; null for other types. */
      previous_destination_url: string | null;
      /** Basis of a stop: stated by the library, or absence from two complete scans; null for other types. */
      basis: "library" | "absence" | null;
      /** Stop date as stated by the library; null when it stated none, and for other types. */
      stopped_on: string | null;
      /** Correction by a scan that arrived late. `withdrawn`: reported, but wrong in the order of observation. `added`: right in that order, but not reported at the time. `changed`: reported with other details, such as another previous destination, or for another brand. Null: reported and not corrected. */
      correction: components["schemas"]["RadarCorrection"] | null;
    };
    /** An item of the radar with all that it takes to check it. */
    RadarItemProof: {
      statement: components["schemas"]["RadarStatement"];
      /** Rule of the statement, in a sentence. */
      rule: string;
      /** Events recorded by the moment, on which the statement rests. */
      events_counted: number;
      /** Events of the same streams about what was observed by the moment, recorded only afterwards. */
      events_left_out: number;
      /** The newest digest of the log; null: none is signed yet, and nothing attests the events of the bundle. */
      digest: components["schemas"]["LogDigest"] | null;
      /** Events of the streams that were recorded after this digest. */
      events_not_attested: number;
      /** Signed link to the bundle, NDJSON with every event of the streams. It needs no key. `npm run ops -- proof verify FILE` checks a bundle without this service. */
      bundle_url: string;
      /** When the link expires. */
      expires_at: string;
    };
    /** An ad seen for the first time that is news, an ad confirmed inactive, or a changed link. */
    RadarItemType: "ad_started" | "ad_stopped" | "destination_changed";
    /** An item of the radar, as known at a moment. */
    RadarStatement: {
      /** Subject of the statement. */
      about: "radar_item";
      item: components["schemas"]["RadarItem"];
      /** The moment: events recorded by then count. */
      as_of: string;
      /** Streams whose events give it, with the last event read of each. */
      streams: Array<{
        /** Name of the stream. */
        stream: string;
        /** Revision of the last event that was read. */
        revision: string;
      }>;
    };
    /** A brand in the ranking of the country that most of its visits come from. */
    RankedBrand: {
      /** Place in the whole list, from 1 on its first page. */
      rank: number;
      brand: components["schemas"]["BrandSummary"];
      /** Visits of the site in a month, a traffic provider's estimate. */
      monthly_visits: number;
      /** The day, or the first of the month, of the visits. */
      estimated_for: string;
      /** Where most visits come from, ISO 3166-1 alpha-2. */
      country: string;
      /** Share of visits from this country, 0 to 1. */
      country_share: number;
      /** Place of the site among all sites by visits, 1 for the most visited; null: no estimate. */
      global_ranking: number | null;
      /** Place of the site within the provider's category, from 1; null: no estimate. */
      category_ranking: number | null;
      /** The traffic provider's label, not a category of this service; null: none is stated. */
      provider_category: string | null;
    };
    /** An event of the log, by its place. */
    RecordedEvent: {
      /** Stream of the event in the log. */
      stream: string;
      /** Place in the stream, from 0. */
      revision: number;
      /** Type of the event, such as `AdRevised`. */
      type: string;
      /** Time at which it was recorded. */
      recorded_at: string;
      /** Time of the observation; null: the event reports none. */
      observed_at: string | null;
    };
    /** An empty object. */
    Redeliver: Record<string, never>;
    /** Failed deliveries to send again. */
    RedeliverFailed: {
      /** Deliveries that were given up at or after this time. */
      since: string;
    };
    /** A delivery that is queued again. */
    Redelivered: {
      /** Id of the delivery, which stays the same. */
      delivery_id: string;
      /** Its alert rule. */
      alert_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
    };
    /** What became of the failed deliveries. */
    RedeliveredFailed: {
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** Deliveries that are queued again. */
      redelivered: number;
      /** Failed deliveries that stay as they are: their rule is off, its channel was removed or is suspended, or they are no longer stored. */
      not_sendable: number;
      /** True when failed deliveries are left. Send the request again. */
      more: boolean;
    };
    /** An empty object. */
    RemoveCollectionItem: Record<string, never>;
    /** The result of removing an item from a collection. */
    RemovedCollectionItem: {
      /** Stable id of the collection, `{collectionId}` in paths. */
      collection_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** False when the item was not there. */
      removed: boolean;
    };
    /** An export of the radar as a CSV file. */
    Report: {
      /** Stable id of the report, `{reportId}` in paths. */
      id: string;
      /** `queued` until a worker starts it, and again after a failed attempt; then `running`; finally `ready` or `failed`. */
      status: "queued" | "running" | "ready" | "failed";
      /** First day, in UTC. */
      from: string;
      /** Last day, in UTC, included. */
      to: string;
      /** Brands that were requested; null for all brands tracked at the time. */
      brand_ids: Array<string> | null;
      /** How many brands it is about. */
      brands: number;
      /** Types of radar items in the file. */
      types: Array<components["schemas"]["RadarItemType"]>;
      /** When it was requested. */
      created_at: string;
      /** When the latest attempt began; null until then. */
      started_at: string | null;
      /** When it became ready or failed for good; null until then. */
      finished_at: string | null;
      /** Why the latest attempt failed, as a sentence; null: it did not. */
      failure: string | null;
      /** Radar items in the file; null until ready. */
      rows: number | null;
      /** Checksum of the file in hex; null until ready. */
      sha256: string | null;
      /** Length of the file; null until ready. */
      size_bytes: number | null;
      /** Address of the file, which needs no API key and works for 15 minutes; null until ready. Read the report again for a fresh one. */
      download_url: string | null;
      /** When `download_url` stops working; null without one. */
      download_expires_at: string | null;
    };
    /** A brand that the service should come to know. */
    RequestBrand: {
      /** Domain of the brand, such as `shop.example`. A leading `www.` is dropped. */
      domain: string;
      /** Id of a social page of the brand in the ad library. */
      page_id?: string;
      /** Whether to track the brand as soon as it is ready. */
      track?: boolean;
      cadence?: components["schemas"]["Cadence"];
    };
    /** Which part of the radar to export. */
    RequestReport: {
      /** Tracked brands only. All of them when absent. */
      brand_ids?: Array<string>;
      /** First day, in UTC, not before 2000-01-01. */
      from: string;
      /** Last day, in UTC, included; at most 31 days in all, none in the future. */
      to: string;
      /** Only these types. All of them when absent. */
      types?: Array<components["schemas"]["RadarItemType"]>;
      /** A repeated key returns the report that it created before in this workspace. */
      idempotency_key?: string;
    };
    /** What became of the wish to track the brand: `waiting` until the request is ready, `tracked` then, or `no_slot` when all slots of the plan were used. */
    RequestedTracking: "not_asked" | "waiting" | "tracked" | "no_slot";
    /** A row of a document that differs from what was delivered. */
    RestatedRow: {
      /** Brand of the row. */
      brand_id: string;
      /** Radar item of the row, `item_id` in the file; null for a brief. */
      item_id: string | null;
      /** Ad of the item; null for a brief. */
      ad_id: string | null;
      /** `added` and `removed`: the whole row; `changed`: some columns of it. An item that moved between two brands is removed at one and added at the other. */
      change: components["schemas"]["ChangeKind"];
      /** Columns of the document with its earlier restatements; of a changed row only those that differ. A column is null when it is empty. Null for an added row. */
      before: Record<string, string | number | null> | null;
      /** The columns now; null for a removed row. */
      after: Record<string, string | number | null> | null;
      /** Events about the row recorded since the last restatement, or since the document was made, newest first, at most 3; empty when they are not known. */
      events: Array<components["schemas"]["RecordedEvent"]>;
    };
    /** Rows of a delivered brief or report that differ from the document with its earlier restatements. */
    Restatement: {
      /** Stable id of the restatement. */
      id: string;
      /** The brief that it restates; null for a report. */
      brief_id: string | null;
      /** The report that it restates; null for a brief. */
      report_id: string | null;
      /** When the document was compared. */
      restated_at: string;
      /** Rows that differ, also those beyond `rows`. */
      rows_total: number;
      /** The first rows that differ, at most 100. The others are in the next restatements of the document. */
      rows: Array<components["schemas"]["RestatedRow"]>;
      /** Address of the brief or report. */
      url: string;
    };
    /** A text that runs in and outside of the pages linked to a brand. */
    ReusedCopy: {
      /** The text of one of the ads. */
      body: string;
      /** The brand's active ads that carry it, on linked pages or on pages no source named. */
      brand_ads: number;
      /** Active ads that carry it on pages not linked to the brand. */
      foreign_ads: number;
      /** Pages that those ads run on. */
      foreign_pages: number;
      /** Those pages, most active ads first, at most 5. */
      largest_foreign_pages: Array<{
        page: components["schemas"]["AdPage"];
        /** Active ads on the page that carry the text. */
        active_ads: number;
      }>;
    };
    /** An empty object. */
    RevokeApiKey: Record<string, never>;
    /** How long unused keys may stay active. */
    RevokeUnusedApiKeys: {
      /** Minimum days without use, each of 24 hours. */
      days: number;
    };
    /** The result of revoking a key. */
    RevokedApiKey: {
      /** Id of the key, not the key itself; `{keyId}` in paths. */
      key_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** False when the workspace had no such active key. */
      removed: boolean;
    };
    /** Which unused keys were revoked. */
    RevokedUnusedApiKeys: {
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** Minimum days without use, each of 24 hours. */
      days: number;
      /** The keys that were revoked, oldest first. */
      revoked: Array<{
        /** Id of the key, not the key itself; `{keyId}` in paths. */
        key_id: string;
        /** Purpose of the key. */
        name: string;
        /** Last use by a request, written in batches, so up to 30 seconds late. Null when never used. */
        last_used_at: string | null;
      }>;
    };
    /** A brand whose active ads grew. */
    Riser: {
      /** Place in the whole list, from 1 on its first page. */
      rank: number;
      brand: components["schemas"]["BrandSummary"];
      /** Active ads on the recent reliable day. */
      active_ads: number;
      /** Active ads on the earlier reliable day. */
      previous_active_ads: number;
      /** `active_ads` minus `previous_active_ads`. */
      growth: number;
      /** `growth` divided by `previous_active_ads`; null when that is zero. */
      growth_rate: number | null;
      /** The recent reliable day, in UTC, within the last week. */
      day: string;
      /** The earlier reliable day, 7 to 28 days before `day`. */
      previous_day: string;
    };
    /** An empty object. */
    RotateApiKey: Record<string, never>;
    /** An item that the workspace saved for later. */
    SavedItem: {
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** Id of the member who saved it. */
      created_by: string;
      /** When it was saved. */
      created_at: string;
    };
    /** What a key may do; each endpoint requires one. */
    Scope: "system:read" | "brands:read" | "tracking:read" | "tracking:write" | "categories:read" | "rankings:read" | "ads:read" | "creatives:read" | "pages:read" | "operators:read" | "tools:read" | "audience:read" | "me:read" | "apiKeys:read" | "apiKeys:write" | "alerts:read" | "alerts:write" | "briefs:read" | "briefs:write" | "reports:read" | "reports:write" | "collections:read" | "collections:write" | "notes:read" | "notes:write";
    /** One kind of change of one brand on one day, without a cause. */
    Signal: {
      /** Stable id: derived from brand, day and kind. */
      id: string;
      kind: components["schemas"]["SignalKind"];
      /** Day of observation, in UTC. */
      date: string;
      /** When the newest of its changes was observed. */
      observed_at: string;
      brand: components["schemas"]["BrandReference"];
      /** A sentence: what changed, never why. */
      summary: string;
      /** The figures of the change. */
      counts: {
        /** Ads started, ads stopped, links changed, pages, ads refreshed, ads with sale copy; of a ramp, drop or shift, active ads that day. */
        items: number;
        /** Active ads on `compared_with`; of a shift, those in `format`; null for kinds that compare no days. */
        before: number | null;
        /** Active ads on `date`; of a shift, those in `format`; null for kinds that compare no days. */
        after: number | null;
        /** Of a shift: share of `format` among active ads on `compared_with`; otherwise null. */
        share_before: number | null;
        /** Of a shift: share of `format` among active ads on `date`; otherwise null. */
        share_after: number | null;
        /** Of a sale: share of the catalogue that was listed at a lower price; null below one tenth. */
        cheaper_share: number | null;
        /** Of a launch burst: mean of ads started on the reliable days of the 28 days before; otherwise null. */
        usual: number | null;
        /** Of a ramp or shift: ads taken off first, since they came into view since `compared_with` without having started then, or were counted under another format by another source; otherwise null. */
        uncovered: number | null;
        /** Ads or pages that were reported, and that a scan which arrived late showed to be otherwise. Not in `items`. */
        withdrawn: number;
        /** Of `items`, those that a scan which arrived late added. */
        added: number;
      };
      /** The reliable day compared with; null for kinds that compare no days. */
      compared_with: string | null;
      /** Of a shift: the format that moved most; otherwise null. */
      format: components["schemas"]["AdFormat"] | null;
      /** The pages or ads it is about, the first 10 observed. Empty where the evidence alone lists them. */
      about: Array<{
        /** The ad, or null for a page alone. */
        ad: {
          /** The library's id of the ad: digits, beyond 2^53, hence a string. */
          id: string;
          /** Address of the ad in this API. */
          url: string;
        } | null;
        /** The page, or the page of the ad; null: not named. */
        page: components["schemas"]["AdPage"] | null;
        /** Observed role of the page for the brand; null when the page was not linked. */
        role: components["schemas"]["PageRole"] | null;
        /** New link of the ad, or the new landing page; otherwise null. */
        destination_url: string | null;
      }>;
      /** Where each item behind the figures is listed. */
      evidence: Array<components["schemas"]["Evidence"]>;
      /** Correction by a scan that arrived late. `withdrawn`: reported, but no signal in the order of observation. `added`: none was reported at the time. `changed`: some were withdrawn or added, or the figures of a day that it compares were corrected. Null: not corrected. */
      correction: components["schemas"]["RadarCorrection"] | null;
    };
    /** Kind of change; the first three group radar items, the others are activity. */
    SignalKind: "ads_started" | "ads_stopped" | "destinations_changed" | "ramp" | "drop" | "launch_burst" | "sale" | "new_landing_page" | "new_linked_page" | "new_whitelisting_pair" | "format_mix_shift" | "long_runner_refreshed";
    /** A site whose visitors resemble the brand's. */
    SimilarSite: {
      /** Host of the similar site. */
      domain: string;
      /** Similarity of the visitors, 0 to 1. */
      affinity: number;
      /** The traffic provider's label, not a category of this service; null: none is stated. */
      provider_category: string | null;
      /** The public brand that the site belongs to; null for other sites. */
      brand: components["schemas"]["BrandReference"] | null;
      /** Visits of the site in a month, a traffic provider's estimate; null: no estimate. */
      monthly_visits: number | null;
      /** Place of the site among all sites by visits, 1 for the most visited; null: no estimate. */
      global_ranking: number | null;
    };
    /** A page linked to a brand: an observed association. */
    SocialPage: {
      /** The network's id of the page: digits, beyond 2^53, hence a string. */
      page_id: string;
      /** As last observed; null: never observed. */
      page_name: string | null;
      role: components["schemas"]["PageRole"];
      /** Confidence of the link, as stated by its source. */
      confidence: number;
      /** The brand's ads on the page that are not confirmed inactive. */
      active_ads: number;
      /** The brand's ads ever seen on the page. */
      total_ads: number;
      /** The name in the page's address; null: not stated. */
      username: string | null;
      /** The page's own category, in the network's words; null: not stated. */
      page_category: string | null;
      /** Whether the network shows it as verified; null: not stated. */
      verified: boolean | null;
      /** Followers that the page shows; null: not stated. */
      followers: number | null;
      /** Likes that it shows; null: not stated. */
      likes: number | null;
      /** Profile by source, newest first, at most 5. Each field above is the newest value of any source. */
      profiles: Array<components["schemas"]["SocialPageProfile"]>;
    };
    /** Profile of a page by one source. */
    SocialPageProfile: {
      /** The collector that read it, or the surface that was read. */
      source: string;
      /** When the source last stated something new. */
      observed_at: string;
      /** As last observed; null: never observed. */
      page_name: string | null;
      /** The name in the page's address; null: not stated. */
      username: string | null;
      /** The page's own category, in the network's words; null: not stated. */
      page_category: string | null;
      /** Whether the network shows it as verified; null: not stated. */
      verified: boolean | null;
      /** Followers that the page shows; null: not stated. */
      followers: number | null;
      /** Likes that it shows; null: not stated. */
      likes: number | null;
    };
    /** When a source was last observed. */
    SourceCoverage: {
      /** `library`: scans of the ad library that count for the brand; `profile`: profile of the brand; `page_profiles`: profiles of linked pages; `landing_pages`: contents of pages that ads lead to; `media_files`: files of ads; `site`: scans of the site's tools; `shop`: catalogue of the shop; `traffic`: estimates of traffic; `audience`: estimates of the audience */
      source: "library" | "profile" | "page_profiles" | "landing_pages" | "media_files" | "site" | "shop" | "traffic" | "audience";
      /** UTC day of the newest observation, for `audience` the day that it estimates; null: never observed since the brand is known. */
      last_observed_on: string | null;
    };
    /** A test as the tool's public configuration has it, without results. */
    SplitTest: {
      tool: components["schemas"]["TechStackItem"];
      /** Stable id, derived from the site, the tool and the tool's own id of the test. */
      id: string;
      /** As configured, without amounts; null: it has none. */
      name: string | null;
      type: components["schemas"]["SplitTestType"];
      /** Whether it ran when it was last read; `state_basis` says what that follows from. */
      state: "running" | "paused" | "ended" | "unknown";
      /** Basis of the state: the configuration, its dates, the assignment of a visitor to an arm, or absence from the tool. */
      state_basis: "configuration" | "dates" | "assignment" | "absence" | "unknown";
      /** Variants that visitors are assigned to; null when they could not be read. */
      arms: Array<{
        /** As configured, without amounts; null: it has none. */
        name: string | null;
        /** Share of visitors, 0 to 1, that the tool is configured to send here; null: not read. */
        allocation: number | null;
      }> | null;
      /** Pages that the test acts on; null where they could not be read. */
      pages: Array<{
        /** Address on the brand's site, or the start of addresses. */
        url: string;
        /** `exact`: this page only; `prefix`: this page and all pages below it. */
        match: "exact" | "prefix";
        /** The brand's active ads that lead there. */
        active_ads: number;
      }> | null;
      /** Time of the first scan that showed it. */
      first_seen_at: string;
      /** When it was last observed to have changed; null: never. */
      changed_at: string | null;
      /** Time of the first scan in which the tool did not show it, which is not its end; null: it is shown. */
      missing_since: string | null;
    };
    /** A testing tool and how many brands use it. */
    SplitTestCensusItem: {
      tool: components["schemas"]["ToolReference"];
      /** Whether this tool can be read at all. */
      is_read: boolean;
      /** Public brands with this tool. */
      brands_installed: number;
      /** Brands whose tool was read; null, not zero, when the tool cannot be read. */
      brands_read: number | null;
      /** Brands among those read with at least one running experiment, without personalizations and rollouts; null when the tool cannot be read. */
      brands_running: number | null;
    };
    /** What the test varies. `personalization` and `rollout` compare nothing and are no experiments. */
    SplitTestType: "price" | "shipping" | "offer" | "content" | "layout" | "theme" | "redirect" | "checkout" | "personalization" | "rollout" | "other";
    /** The public catalogue of a brand as last collected, and its changes. */
    Store: {
      /** `not_collected`: no scan has shown a product, which does not mean that the shop has none. */
      status: components["schemas"]["CollectedStatus"];
      /** The newest scan; null: none was recorded. */
      latest_scan: components["schemas"]["StoreScan"] | null;
      /** When the catalogue was last read to its end; null: never. */
      last_complete_scan_at: string | null;
      /** ISO 4217, as last observed; null: never observed. */
      currency: string | null;
      /** Products of the catalogue, missing ones included; null when not collected. */
      products_total: number | null;
      /** Products among them that the latest complete scan did not show; null when not collected. */
      missing_products: number | null;
      /** Newest first, up to `limit`; null when not collected. */
      products: Array<components["schemas"]["StoreProduct"]> | null;
      /** Send it as `after` to get the next products; null on the last page. */
      next_product_id: string | null;
      /** The twelve weeks up to the latest scan, oldest first; weeks without a scan are absent. */
      weeks: Array<components["schemas"]["StoreWeek"]>;
      /** The newest observed changes of these weeks, up to two hundred. */
      changes: Array<components["schemas"]["StoreChange"]>;
    };
    /** An observed change of one product. */
    StoreChange: {
      /** `returned`: listed again after it had been delisted; `delisted`: absent from two complete scans. */
      type: "listed" | "returned" | "delisted" | "changed";
      /** Time of the scan that showed it. */
      observed_at: string;
      /** The shop's id of the product, digits. */
      product_id: string;
      /** Name of the product as listed. */
      title: string;
      /** Listed prices only fell, only rose, or both; null: none changed, or another currency. */
      price_move: "cheaper" | "dearer" | "mixed" | null;
      /** Fields of the product that changed. */
      details: Array<"handle" | "title" | "product_type" | "vendor" | "published_at" | "image_url">;
      /** Variants that the product has gained. */
      variants_listed: number;
      /** Variants that it has lost. */
      variants_delisted: number;
      /** Variants of which a field changed. */
      variants_changed: number;
      /** Up to twenty of the changed variants; null when no variant changed. */
      variants: Array<{
        /** The shop's id of the variant, digits. */
        variant_id: string;
        /** Listed price, if it changed; otherwise null. */
        price: {
          /** Listed price before; null: not known. */
          from: string | null;
          /** Listed price now; null: not known. */
          to: string | null;
        } | null;
        /** Compare-at price, if it changed; otherwise null. */
        compare_at_price: {
          /** Compare-at price before; null: not known. */
          from: string | null;
          /** Compare-at price now; null: not known. */
          to: string | null;
        } | null;
        /** Published flag of availability, if it changed; otherwise null. */
        available: {
          /** Published flag of availability before; null: not known. */
          from: boolean | null;
          /** Published flag of availability now; null: not known. */
          to: boolean | null;
        } | null;
      }>;
    };
    /** A product of the public catalogue with its variants. */
    StoreProduct: {
      /** The shop's id of the product, digits. */
      product_id: string;
      /** Name of the product in the links of the shop. */
      handle: string;
      /** Name of the product as listed. */
      title: string;
      /** Page of the product in the shop; null when its handle was cut. */
      url: string | null;
      /** The shop's own kind of product; null: none observed. */
      product_type: string | null;
      /** Maker or seller that the shop names; null: none observed. */
      vendor: string | null;
      /** First picture, at the shop; null: none observed. */
      image_url: string | null;
      /** When the shop published it, as the catalogue states; null: not stated. */
      published_at: string | null;
      /** `missing`: absent from the latest complete scan, but not yet delisted. */
      status: "listed" | "missing";
      /** First complete scan that did not show it; null while it is listed. */
      missing_since: string | null;
      /** Time of the first scan that showed it. */
      first_seen_at: string;
      /** When it was last observed to have changed; null: never. */
      changed_at: string | null;
      /** Whether any variant is published as available; null when no variant states it. */
      available: boolean | null;
      /** Its variants, in the order of the catalogue. */
      variants: Array<components["schemas"]["StoreVariant"]>;
    };
    /** What a scan of the storefront covered. */
    StoreScan: {
      /** When the catalogue was read. */
      scanned_at: string;
      /** Whether the catalogue was read to its end. Only then does absence count; an empty reply is never complete. */
      complete: boolean;
      /** Catalogue pages that were read. */
      pages: number;
      /** Products that they showed. */
      products_seen: number;
      /** ISO 4217; null when the scan does not state it. */
      currency: string | null;
      /** Name of the program that read it. */
      collector: string;
    };
    /** A form of a product that can be bought, such as one size. */
    StoreVariant: {
      /** The shop's id of the variant, digits. */
      variant_id: string;
      /** As listed, such as a size; null: not observed. */
      title: string | null;
      /** The shop's own article number; null: none observed. */
      sku: string | null;
      /** As listed, in the currency of the store; null: none observed. */
      price: string | null;
      /** The compare-at price that the shop lists; null when none was observed. */
      compare_at_price: string | null;
      /** The flag as published; null when the catalogue does not publish it. */
      available: boolean | null;
    };
    /** Changes that the scans of one week showed. */
    StoreWeek: {
      /** Monday of the ISO week. */
      week_start: string;
      /** Scans of the week. */
      scans: number;
      /** Scans among them that read the catalogue to its end. */
      complete_scans: number;
      /** Products in the catalogue at the latest scan of the week; null when none was known. */
      products: number | null;
      /** Products listed for the first time; the first complete scan counts none. */
      listed: number;
      /** Products listed again after they had been delisted. */
      returned: number;
      /** Products absent from two complete scans at least 20 hours apart. */
      delisted: number;
      /** Product changes, of prices or of other fields. */
      changed: number;
      /** Product changes in which listed prices only fell. */
      cheaper: number;
      /** Product changes in which listed prices only rose. */
      dearer: number;
      /** Product changes in which some listed prices fell and others rose. */
      mixed: number;
    };
    /** Decides the format of `subject_key`. */
    SubjectType: "ad" | "brand" | "creative" | "creative_record" | "page" | "collection";
    /** What the corpus holds and how fresh it is. */
    SystemFreshness: {
      /** Ads ever observed, inactive ones included. */
      ads_total: number;
      /** Brands known to the service, scanned or not. */
      brands_total: number;
      /** Brands scanned at least once. */
      brands_with_usable_data: number;
      /** The newest scan of any brand; 1970 before the first. */
      last_scrape_at: string;
      /** Identifier of this snapshot of the data. */
      data_version: string;
      /** Top-level categories by slug; brands without a category are left out. */
      coverage: Array<{
        /** Short name of the category in links; categories of different parents may share one. */
        category_slug: string;
        /** Brands of the category, scanned or not. */
        brands: number;
        /** Brands scanned in the 7 UTC days that end with `last_scrape_at`. */
        brands_scraped_7d: number;
      }>;
    };
    /** A tool detected on the brand's site; detection can be wrong. */
    TechStackItem: {
      /** Name of the tool in links; paths take it as `{toolSlug}`. */
      slug: string;
      /** The tool in words, to be shown to people. */
      name: string;
      /** What the tool is for. */
      category: string;
      /** Site of the tool's maker; null: not known. */
      website_url: string | null;
      /** Address of the tool in this API. */
      url: string;
    };
    /** An empty object. */
    TestAlert: Record<string, never>;
    /** What became of the sample on each channel. */
    TestedAlert: {
      /** Stable id of the rule, `{alertId}` in paths. */
      alert_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** One entry per channel of the rule, including suspended channels. */
      deliveries: Array<{
        /** Id of the delivery, as listed by the alert deliveries. */
        delivery_id: string;
        channel: components["schemas"]["AlertChannel"];
        /** Whether the receiver accepted the sample. */
        delivered: boolean;
        /** The step that failed; null when delivered. */
        failure: components["schemas"]["FailureClass"] | null;
        /** The receiver's HTTP status or SMTP reply code; null without a reply. */
        status_code: number | null;
        /** Why it failed, as a sentence; null when delivered. */
        reason: string | null;
        /** Milliseconds from sending to the answer, or to its failure. */
        duration_ms: number;
      }>;
    };
    /** A still image of a live creative. */
    Thumb: {
      /** Id of the file in this ad, `{creativeId}` in paths. */
      creative_id: string;
      /** SHA-256 of the file, in hex. */
      creative_key: string;
      /** The brand's newest live ad that carries the file. */
      ad_id: string;
      media_kind: components["schemas"]["MediaKind"];
      /** The stored thumbnail, at most 320 pixels wide and high; else the stored poster, else the image. */
      image_url: string;
      /** Of the file, not of the thumbnail; in pixels; null: not measured. */
      width: number | null;
      /** Of the file, not of the thumbnail; in pixels; null: not measured. */
      height: number | null;
      /** Start date of that ad; its first sighting when the library states none. */
      started_on: string;
    };
    /** A tool with who has it. */
    Tool: {
      /** Stable id of the tool; paths take it as `{toolSlug}` too. */
      id: string;
      /** Name of the tool in links; paths take it as `{toolSlug}`. */
      slug: string;
      /** The tool in words, to be shown to people. */
      name: string;
      /** What the tool is for. */
      category: string;
      /** Site of the tool's maker; null: not known. */
      website_url: string | null;
      /** Address of the tool in this API. */
      url: string;
      /** Public brands on whose sites it was detected and is not known to be gone. */
      brands: number;
      /** Top-level categories, most brands first. */
      adoption_by_category: Array<{
        category: components["schemas"]["CategoryReference"];
        /** Public brands of the category that have the tool. */
        brands: number;
        /** Public brands of the category whose sites were scanned. */
        scanned_brands: number;
        /** `brands` divided by `scanned_brands`, 0 to 1; null: none was scanned. */
        share: number | null;
      }>;
      /** Up to twenty tools that most often occur with it. */
      common_combinations: Array<{
        tool: components["schemas"]["ToolReference"];
        /** Public brands that have both. */
        brands: number;
        /** Share of the brands with this tool, 0 to 1; null: there are none. */
        share: number | null;
      }>;
      /** Brands that have the tool, by estimated monthly visits. */
      traffic_split: Array<{
        /** Lowest monthly visits of the band; null for brands without an estimate. */
        visits_from: number | null;
        /** Upper bound of the band, excluded; null for the last band. */
        visits_to: number | null;
        /** Public brands of the band that have the tool. */
        brands: number;
      }>;
    };
    /** A brand that has a tool. */
    ToolBrand: {
      /** Place in the whole list, from 1 on its first page. */
      rank: number;
      brand: components["schemas"]["BrandSummary"];
      /** Visits of the site in a month, a traffic provider's estimate; null: no estimate. */
      monthly_visits: number | null;
      /** The day, or the first of the month, of the visits; null: no estimate. */
      estimated_for: string | null;
      /** Where most visits come from, ISO 3166-1 alpha-2; null: no estimate. */
      top_country: string | null;
      /** When a scan first found it, or found it again after it was gone. */
      detected_at: string;
      /** Time of the first complete scan that did not detect it, which does not mean that it is gone; null: detected. */
      missing_since: string | null;
    };
    /** A tool as shown in other records. */
    ToolReference: {
      /** Stable id of the tool; paths take it as `{toolSlug}` too. */
      id: string;
      /** Name of the tool in links; paths take it as `{toolSlug}`. */
      slug: string;
      /** The tool in words, to be shown to people. */
      name: string;
      /** What the tool is for. */
      category: string;
      /** Site of the tool's maker; null: not known. */
      website_url: string | null;
      /** Address of the tool in this API. */
      url: string;
    };
    /** A tool and how many brands have it. */
    ToolSummary: {
      /** Stable id of the tool; paths take it as `{toolSlug}` too. */
      id: string;
      /** Name of the tool in links; paths take it as `{toolSlug}`. */
      slug: string;
      /** The tool in words, to be shown to people. */
      name: string;
      /** What the tool is for. */
      category: string;
      /** Site of the tool's maker; null: not known. */
      website_url: string | null;
      /** Address of the tool in this API. */
      url: string;
      /** Public brands on whose sites it was detected and is not known to be gone. */
      brands: number;
    };
    /** The brand to track; a repeated request changes its cadence. */
    TrackBrand: {
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      cadence?: components["schemas"]["Cadence"];
    };
    /** Brands to track in one request. */
    TrackBrands: {
      /** Brands to track, each named once. */
      brands: Array<components["schemas"]["TrackBrand"]>;
    };
    /** How the workspace tracks a brand. */
    TrackedBrand: {
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      cadence: components["schemas"]["Cadence"];
      /** Address of the brand in this API. */
      url: string;
      /** When tracking began; unchanged when the cadence changes. */
      created_at: string;
    };
    /** Whether a tracked brand is scanned as often as promised. */
    TrackedBrandFreshness: {
      brand: components["schemas"]["BrandReference"];
      cadence: components["schemas"]["Cadence"];
      freshness: components["schemas"]["Freshness"];
      /** Hours without a reliable scan until the promise is broken: 36 for a daily cadence, 192 for a weekly one. */
      slo_hours: number;
      /** Whole hours since the last reliable scan; since tracking began when there was none. */
      hours_since_reliable: number;
      /** `breached` when `hours_since_reliable` exceeds `slo_hours`. */
      slo_status: "ok" | "breached";
    };
    /** A brand that the workspace tracks. */
    TrackedBrandListItem: {
      brand: components["schemas"]["BrandSummary"];
      cadence: components["schemas"]["Cadence"];
      /** When tracking began; unchanged when the cadence changes. */
      created_at: string;
      freshness: components["schemas"]["Freshness"];
    };
    /** The provider's figures of the site for one day or month. */
    TrajectoryPoint: {
      /** The day, or the first of the month, that the figures are for. */
      date: string;
      /** Place of the site among all sites by visits, 1 for the most visited; null: no estimate. */
      global_ranking: number | null;
      /** Place of the site within the provider's category, from 1; null: no estimate. */
      category_ranking: number | null;
      /** Visits of the site in a month, a traffic provider's estimate; null: no estimate. */
      monthly_visits: number | null;
    };
    /** An empty object. */
    UnsaveItem: Record<string, never>;
    /** The result of removing a saved item. */
    UnsavedItem: {
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      item_type: components["schemas"]["ItemType"];
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      item_key: string;
      /** False when it was not saved. */
      removed: boolean;
    };
    /** An empty object. */
    UntrackBrand: Record<string, never>;
    /** The result of untracking a brand. */
    UntrackedBrand: {
      /** Stable id of the brand, `{brandId}` in paths. */
      brand_id: string;
      /** The calling key's workspace, `{ws}` in the paths of this service. */
      workspace_id: string;
      /** False when the brand was not tracked. */
      removed: boolean;
    };
    /** Ads of a brand in one ISO week with an observed day. */
    WeeklyVelocity: {
      /** Monday of the ISO week. */
      week_start: string;
      /** Ads not confirmed inactive on the latest observed day of the week. */
      active_ads: number;
      /** New ads, summed over reliable days. */
      new_ads: number;
      /** Ads confirmed inactive, summed over reliable days. */
      retired_ads: number;
      /** Days that the sums are over; with 0 they mean nothing, and the week is to be shaded. */
      reliable_days: number;
    };
    /** A difference between two past moments at a tracked brand. */
    WorkspaceChange: {
      /** The brand, as of `until`. */
      brand: components["schemas"]["BrandReference"];
      subject: components["schemas"]["ChangeSubject"];
      /** Uuid of the brand, date of the day, or library id of the ad. */
      id: string;
      change: components["schemas"]["ChangeKind"];
      /** Field of the record, such as `status`; null: the whole record. */
      field: string | null;
      /** Value as of `since`; null also for an added record. */
      before: unknown;
      /** Value as of `until`; null also for a removed record. */
      after: unknown;
      /** Events about the record that were recorded between the two moments, newest first, at most 10. */
      events: Array<components["schemas"]["RecordedEvent"]>;
      /** Number of such events. */
      events_total: number;
      /** Address of the record. */
      url: string;
    };
    /** A note and its subject. */
    WriteNote: {
      /** Decides the format of `subject_key`. */
      subject_type: "ad";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    } | {
      /** Decides the format of `subject_key`. */
      subject_type: "brand";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    } | {
      /** Decides the format of `subject_key`. */
      subject_type: "creative";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    } | {
      /** Decides the format of `subject_key`. */
      subject_type: "creative_record";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    } | {
      /** Decides the format of `subject_key`. */
      subject_type: "page";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    } | {
      /** Decides the format of `subject_key`. */
      subject_type: "collection";
      /** Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key. */
      subject_key: string;
      /** The note, as plain text. */
      body: string;
    };
    /** A rule as written, once with the signing secret. */
    WrittenAlert: {
      /** Stable id of the rule, `{alertId}` in paths. */
      id: string;
      /** Title of the rule, shown in what it sends. */
      name: string;
      trigger: components["schemas"]["AlertTrigger"];
      /** Brands that the rule watches. An untracked brand is ignored until it is tracked again. */
      brand_ids: Array<string>;
      cadence: components["schemas"]["AlertCadence"];
      /** Whether it is mailed to the member who created the rule. */
      email: boolean;
      /** An https URL that signed requests are posted to. Null: none is set. */
      webhook_url: string | null;
      /** The chat tool's incoming webhook, whose address is never returned; null: none is set. */
      chat: {
        /** Such as `hooks.slack.com`. */
        host: string;
      } | null;
      /** Whether members switched the rule on; `sends_on` says what that amounts to. */
      enabled: boolean;
      /** Channels that matches are sent on: those of the rule that are not suspended; none while the rule is disabled. Empty: nothing is sent. */
      sends_on: Array<components["schemas"]["AlertChannel"]>;
      /** Suspended channels: all deliveries failed for five days, and nothing more is sent. Enabling the rule, or setting the address of the channel, ends a suspension. What was skipped meanwhile is not sent later. */
      suspended: Array<{
        channel: components["schemas"]["EndpointChannel"];
        /** Start of the failures without a success since. */
        failing_since: string;
        /** When sending on it ended. */
        suspended_at: string;
      }>;
      /** Least number of items of a message: of one brand in one scan, or of a digest. Messages with fewer are not sent. A page link or a signal that is sent at once is one item. */
      threshold?: number;
      quiet_hours?: components["schemas"]["QuietHours"];
      /** Most messages of an instant rule on a UTC day, on each channel. What is above is sent in one digest after the day, which is a message of the next day. */
      max_per_day?: number;
      /** Id of the member who created it and receives its e-mails. */
      created_by: string;
      /** When the rule was created. */
      created_at: string;
      /** When it was last changed, or one of its channels was suspended. */
      updated_at: string;
      /** The signing secret, shown only in the reply that creates the first rule with a webhook in the workspace. Store it now. Otherwise null. */
      webhook_secret: string | null;
    };
  };
  responses: {
    SlugReplaced: {
      content: Record<string, never>;
    };
    NotModified: {
      content: Record<string, never>;
    };
    BadRequest: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    Unauthorized: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    Forbidden: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    RateLimited: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    Internal: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    Unavailable: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    NotFound: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    Conflict: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    PaymentRequired: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    NotAcceptable: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    BodyTooLarge: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    UnsupportedMediaType: {
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
  };
}

/** Lists that have pages. */
export type PagedPath =
  | "/v1/brands"
  | "/v1/brands/sitemap"
  | "/v1/brands/{brandId}/changes"
  | "/v1/categories"
  | "/v1/categories/sitemap"
  | "/v1/ads"
  | "/v1/brands/{brandId}/ads"
  | "/v1/brands/{brandId}/ads/search"
  | "/v1/creative-records"
  | "/v1/creatives"
  | "/v1/pages"
  | "/v1/rankings"
  | "/v1/rankings/new-advertisers"
  | "/v1/rankings/risers"
  | "/v1/tools"
  | "/v1/tools/{toolSlug}/brands"
  | "/v1/audience/{segment}"
  | "/v1/hubs"
  | "/v1/operators"
  | "/v1/workspaces/{ws}/brand-requests"
  | "/v1/workspaces/{ws}/changes"
  | "/v1/workspaces/{ws}/tracked-brands"
  | "/v1/workspaces/{ws}/radar"
  | "/v1/workspaces/{ws}/radar/signals"
  | "/v1/workspaces/{ws}/tracked-brands/{brandId}/signals"
  | "/v1/workspaces/{ws}/alert-deliveries"
  | "/v1/workspaces/{ws}/alert-deliveries/search"
  | "/v1/workspaces/{ws}/alerts"
  | "/v1/workspaces/{ws}/briefs"
  | "/v1/workspaces/{ws}/reports"
  | "/v1/workspaces/{ws}/restatements"
  | "/v1/workspaces/{ws}/collections"
  | "/v1/workspaces/{ws}/collections/{collectionId}/items"
  | "/v1/workspaces/{ws}/saved"
  | "/v1/workspaces/{ws}/notes"
  | "/v1/workspaces/{ws}/members"
  | "/v1/workspaces/{ws}/api-keys";
