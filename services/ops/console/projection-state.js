import { badge } from './dom.js';
import { count, duration } from './format.js';

/** How a projection stands, in a few words. */

const TONES = { live: 'good', building: 'plain', paused: 'warn', failed: 'bad' };
const UNDER_WAY = ['asked', 'reading', 'indexing', 'ready'];

export const isBuilding = (build) => build !== null && UNDER_WAY.includes(build.state);

export const stateBadges = ({ state, owner, standing_since: standing, build }) => [
  badge(state, TONES[state]),
  owner === null ? badge('nobody projects it', 'bad') : null,
  standing === null ? null : badge('stands still', 'bad'),
  isBuilding(build) ? badge(`rebuild: ${build.state}`, 'plain') : null,
  build?.state === 'failed' ? badge('rebuild failed', 'bad') : null,
];

export const behind = ({ lag_facts: events, lag_seconds: seconds }) =>
  events === 0 ? 'nothing' : `${count(events)} events, ${duration(seconds)}`;
