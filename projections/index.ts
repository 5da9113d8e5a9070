import { ads } from './ads/project.ts';
import { apiKeys } from './api-keys/project.ts';
import { brands } from './brands/project.ts';
import { dailyActivity } from './daily-activity/project.ts';
import { freshness } from './freshness/project.ts';
import { newAdvertisers } from './new-advertisers/project.ts';
import type { Projection } from './projection.ts';
import { radar } from './radar/project.ts';
import { rankings } from './rankings/project.ts';
import { tracking } from './tracking/project.ts';
import { velocity } from './velocity/project.ts';
import { workspaceHistory } from './workspace-history/project.ts';
import { workspaces } from './workspaces/project.ts';

/** Every read model, in the order in which the projector takes them over. */
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
  ads,
  rankings,
  newAdvertisers,
];
