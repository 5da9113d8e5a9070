/** Every endpoint of the service; `index.ts` sorts them. */

export { getMe, listMembers } from './account.ts';
export { getAd, getAdProof, listBrandAds, searchAds, searchBrandAds } from './ads.ts';
export { backtestAlert } from './alerts/backtest-alert.ts';
export { getDeliveryProof, listAlertDeliveries, searchAlertDeliveries } from './alerts/deliveries.ts';
export { redeliver, redeliverFailed } from './alerts/redeliver.ts';
export { changeAlert, createAlert, deleteAlert, listAlerts } from './alerts/rules.ts';
export { testAlert } from './alerts/test-alert.ts';
export { issueWebhookSecret } from './alerts/webhook-secrets.ts';
export { createApiKey, listApiKeys, revokeApiKey, revokeUnusedApiKeys, rotateApiKey } from './api-keys.ts';
export { listAudience } from './audience.ts';
export {
  getBrandBreakdown,
  getBrandCreativeLibrary,
  getBrandDailyActivity,
  getBrandLeakage,
  getBrandVelocity,
  listBrandThumbs,
} from './brands/activity.ts';
export { getBrandBounds } from './brands/bounds.ts';
export { getBrand, listBrandSitemap, listBrands, listSimilarSites } from './brands/brands.ts';
export { getBrandCoverage } from './brands/coverage.ts';
export { listBrandChanges, listWorkspaceChanges } from './brands/changes.ts';
export { getBrandDemographics, getBrandTrajectory } from './brands/demographics.ts';
export {
  getBrandCopyReuse,
  getBrandNetwork,
  listBrandOperators,
  listBrandPartnerships,
  listBrandSocialPages,
} from './brands/network.ts';
export { getBrandProof } from './brands/proof.ts';
export { getBrandSplitTests, getBrandStore, getBrandTechStack } from './brands/site.ts';
export { getBrandRequest, listBrandRequests, requestBrand } from './brand-requests.ts';
export { getBrief, giveBriefFeedback, listBriefs } from './briefs.ts';
export { getCategory, getCategoryStats, listCategories, listCategorySitemap } from './categories.ts';
export { checkClaim } from './claims.ts';
export {
  addCollectionItem,
  changeCollection,
  createCollection,
  deleteCollection,
  listCollectionItems,
  listCollections,
  removeCollectionItem,
} from './collections.ts';
export { getCreativeCoverage, getCreativeRecord, searchCreativeRecords } from './creative-records.ts';
export { getCreative, listAdCreatives, listCreatives } from './creatives.ts';
export { listHubs } from './hubs.ts';
export { lookUp } from './lookup.ts';
export { deleteNote, listNotes, writeNote } from './notes.ts';
export { getOperator, listOperators } from './operators.ts';
export { getPage, listPageDetails, listPages } from './pages.ts';
export { getRadarItemProof, listRadar } from './radar.ts';
export { listNewAdvertisers, listRanking, listRisers } from './rankings.ts';
export { getReport, listReports, requestReport } from './reports.ts';
export { listRestatements } from './restatements.ts';
export { listSavedItems, saveItem, unsaveItem } from './saved.ts';
export { listBrandSignals, listSignals } from './signals.ts';
export { getSplitTestCensus } from './split-test-census.ts';
export { getSystemFreshness } from './system.ts';
export { getTool, listToolBrands, listTools } from './tools.ts';
export {
  listTrackedBrands,
  listTrackedBrandsFreshness,
  trackBrand,
  trackBrands,
  untrackBrand,
} from './tracked-brands.ts';
