import type { Endpoint } from './endpoint/define-endpoint.ts';
import { getMe } from './account/get-me.ts';
import { getAd } from './ads/get-ad.ts';
import { listBrandAds } from './ads/list-brand-ads.ts';
import { searchAds } from './ads/search-ads.ts';
import { changeAlert } from './alerts/change-alert.ts';
import { createAlert } from './alerts/create-alert.ts';
import { deleteAlert } from './alerts/delete-alert.ts';
import { issueWebhookSecret } from './alerts/issue-webhook-secret.ts';
import { listAlertDeliveries } from './alerts/list-alert-deliveries.ts';
import { listAlerts } from './alerts/list-alerts.ts';
import { testAlert } from './alerts/test-alert.ts';
import { createApiKey } from './api-keys/create-api-key.ts';
import { listApiKeys } from './api-keys/list-api-keys.ts';
import { revokeApiKey } from './api-keys/revoke-api-key.ts';
import { revokeUnusedApiKeys } from './api-keys/revoke-unused-api-keys.ts';
import { rotateApiKey } from './api-keys/rotate-api-key.ts';
import { listAudience } from './audience/list-audience.ts';
import { getBrandBreakdown } from './brands/activity/get-brand-breakdown.ts';
import { getBrandCreativeLibrary } from './brands/activity/get-brand-creative-library.ts';
import { listBrandThumbs } from './brands/activity/list-brand-thumbs.ts';
import { getBrandSplitTests } from './brands/site/get-brand-split-tests.ts';
import { getBrandStore } from './brands/site/get-brand-store.ts';
import { getBrandTechStack } from './brands/site/get-brand-tech-stack.ts';
import { getBrandDailyActivity } from './brands/activity/get-brand-daily-activity.ts';
import { getBrand } from './brands/get-brand.ts';
import { getBrandDemographics } from './brands/audience/get-brand-demographics.ts';
import { listSimilarSites } from './brands/list-similar-sites.ts';
import { getBrandTrajectory } from './brands/audience/get-brand-trajectory.ts';
import { getBrandVelocity } from './brands/activity/get-brand-velocity.ts';
import { listBrandSitemap } from './brands/list-brand-sitemap.ts';
import { listBrands } from './brands/list-brands.ts';
import { getBrandCopyReuse } from './brands/network/get-brand-copy-reuse.ts';
import { getBrandLeakage } from './brands/activity/get-brand-leakage.ts';
import { listBrandOperators } from './brands/network/list-brand-operators.ts';
import { listBrandPartnerships } from './brands/network/list-brand-partnerships.ts';
import { listBrandSocialPages } from './brands/network/list-brand-social-pages.ts';
import { getBrandNetwork } from './brands/network/get-brand-network.ts';
import { getCategoryStats } from './categories/get-category-stats.ts';
import { getCategory } from './categories/get-category.ts';
import { listCategories } from './categories/list-categories.ts';
import { listCategorySitemap } from './categories/list-category-sitemap.ts';
import { listHubs } from './hubs/list-hubs.ts';
import { getOperator } from './operators/get-operator.ts';
import { listOperators } from './operators/list-operators.ts';
import { getBrief } from './briefs/get-brief.ts';
import { giveBriefFeedback } from './briefs/give-brief-feedback.ts';
import { listBriefs } from './briefs/list-briefs.ts';
import { addCollectionItem } from './collections/add-collection-item.ts';
import { changeCollection } from './collections/change-collection.ts';
import { createCollection } from './collections/create-collection.ts';
import { deleteCollection } from './collections/delete-collection.ts';
import { listCollections } from './collections/list-collections.ts';
import { removeCollectionItem } from './collections/remove-collection-item.ts';
import { getCreativeCoverage } from './creative-records/get-creative-coverage.ts';
import { getCreativeRecord } from './creative-records/get-creative-record.ts';
import { searchCreativeRecords } from './creative-records/search-creative-records.ts';
import { getCreative } from './creatives/get-creative.ts';
import { listAdCreatives } from './creatives/list-ad-creatives.ts';
import { listCreatives } from './creatives/list-creatives.ts';
import { deleteNote } from './notes/delete-note.ts';
import { listNotes } from './notes/list-notes.ts';
import { writeNote } from './notes/write-note.ts';
import { getPage } from './pages/get-page.ts';
import { listPageDetails } from './pages/list-page-details.ts';
import { listPages } from './pages/list-pages.ts';
import { listRadar } from './radar/list-radar.ts';
import { listSignals } from './radar/list-signals.ts';
import { listNewAdvertisers } from './rankings/list-new-advertisers.ts';
import { listRanking } from './rankings/list-ranking.ts';
import { listRisers } from './rankings/list-risers.ts';
import { getReport } from './reports/get-report.ts';
import { listReports } from './reports/list-reports.ts';
import { requestReport } from './reports/request-report.ts';
import { listSavedItems } from './saved/list-saved-items.ts';
import { saveItem } from './saved/save-item.ts';
import { unsaveItem } from './saved/unsave-item.ts';
import { getSplitTestCensus } from './split-test-census/get-split-test-census.ts';
import { getSystemFreshness } from './system/get-system-freshness.ts';
import { getTool } from './tools/get-tool.ts';
import { listToolBrands } from './tools/list-tool-brands.ts';
import { listTools } from './tools/list-tools.ts';
import { listTrackedBrandsFreshness } from './tracked-brands/list-tracked-brands-freshness.ts';
import { listTrackedBrands } from './tracked-brands/list-tracked-brands.ts';
import { trackBrand } from './tracked-brands/track-brand.ts';
import { untrackBrand } from './tracked-brands/untrack-brand.ts';

/** All endpoints, in the order of the documentation. */
export const ENDPOINTS: readonly Endpoint[] = [
  getSystemFreshness,
  listBrands,
  listBrandSitemap,
  getBrand,
  getBrandVelocity,
  getBrandBreakdown,
  listSimilarSites,
  getBrandTrajectory,
  getBrandDemographics,
  getBrandTechStack,
  listBrandSocialPages,
  getBrandLeakage,
  getBrandCopyReuse,
  listBrandPartnerships,
  getBrandCreativeLibrary,
  listBrandThumbs,
  getBrandDailyActivity,
  getBrandSplitTests,
  getBrandStore,
  getBrandNetwork,
  listBrandAds,
  searchAds,
  getAd,
  listCreatives,
  getCreative,
  listAdCreatives,
  searchCreativeRecords,
  getCreativeRecord,
  getCreativeCoverage,
  listPages,
  getPage,
  listPageDetails,
  listOperators,
  getOperator,
  listHubs,
  listBrandOperators,
  getCategory,
  listCategories,
  listCategorySitemap,
  getCategoryStats,
  listRanking,
  listRisers,
  listNewAdvertisers,
  trackBrand,
  listTrackedBrands,
  listTrackedBrandsFreshness,
  untrackBrand,
  createApiKey,
  listApiKeys,
  rotateApiKey,
  revokeApiKey,
  revokeUnusedApiKeys,
  listRadar,
  listSignals,
  listAlerts,
  createAlert,
  changeAlert,
  deleteAlert,
  listAlertDeliveries,
  testAlert,
  issueWebhookSecret,
  listBriefs,
  getBrief,
  giveBriefFeedback,
  requestReport,
  listReports,
  getReport,
  listCollections,
  createCollection,
  changeCollection,
  deleteCollection,
  addCollectionItem,
  removeCollectionItem,
  listSavedItems,
  saveItem,
  unsaveItem,
  listNotes,
  writeNote,
  deleteNote,
  listTools,
  getTool,
  listToolBrands,
  getSplitTestCensus,
  listAudience,
  getMe,
];
