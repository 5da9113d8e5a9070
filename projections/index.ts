import { ads } from './ads/project.ts';
import { alertDeliveries } from './alert-deliveries/project.ts';
import { alerts } from './alerts/project.ts';
import { apiKeys } from './api-keys/project.ts';
import { briefs } from './briefs/project.ts';
import { brandRequests } from './brand-requests/project.ts';
import { brands } from './brands/project.ts';
import { categories } from './categories/project.ts';
import { categoryTools } from './category-tools/project.ts';
import { collections } from './collections/project.ts';
import { dailyActivity } from './daily-activity/project.ts';
import { creatives } from './creatives/project.ts';
import { freshness } from './freshness/project.ts';
import { newAdvertisers } from './new-advertisers/project.ts';
import { notes } from './notes/project.ts';
import { operators } from './operators/project.ts';
import { partnerships } from './partnerships/project.ts';
import { pages } from './pages/project.ts';
import type { Projection } from './define-projection.ts';
import { radar } from './radar/project.ts';
import { rankings } from './rankings/project.ts';
import { reports } from './reports/project.ts';
import { restatements } from './restatements/project.ts';
import { saved } from './saved/project.ts';
import { signals } from './signals/project.ts';
import { socialPages } from './social-pages/project.ts';
import { splitTests } from './split-tests/project.ts';
import { store } from './store/project.ts';
import { tools } from './tools/project.ts';
import { tracking } from './tracking/project.ts';
import { traffic } from './traffic/project.ts';
import { velocity } from './velocity/project.ts';
import { workspaceHistory } from './workspace-history/project.ts';
import { workspaces } from './workspaces/project.ts';

export const projections: readonly Projection[] = [
  tracking,
  workspaces,
  workspaceHistory,
  apiKeys,
  brands,
  freshness,
  dailyActivity,
  velocity,
  radar,
  signals,
  ads,
  pages,
  creatives,
  rankings,
  newAdvertisers,
  categories,
  categoryTools,
  traffic,
  socialPages,
  partnerships,
  operators,
  tools,
  splitTests,
  store,
  reports,
  briefs,
  restatements,
  collections,
  saved,
  notes,
  brandRequests,
  alerts,
  alertDeliveries,
];
