import { badge } from './dom.js';
import { count, duration } from './format.js';

/** Status badges and lag text of a projection. */

const TONES = { live: 'good', building: 'plain', paused: 'warn', failed: 'bad' };
const RUNNING = ['asked', 'reading', 'indexing', 'ready'];

export const isBuilding = (build) => build !== null && RUNNING.includes(build.state);

/** Display name of a state: `asked`, the stored name of a request that has not started, reads `requested`. */
export const formatState = (state) => (state === 'asked' ? 'requested' : state);

export const stateBadges = ({ state, owner, standing_since: standing, build }) => [
  badge(state, TONES[state]),
  owner === null ? badge('no owner', 'bad') : null,
  standing === null ? null : badge('stalled', 'bad'),
  isBuilding(build) ? badge(`rebuild: ${formatState(build.state)}`, 'plain') : null,
  build?.state === 'failed' ? badge('rebuild failed', 'bad') : null,
];

export const lagText = ({ lag_facts: events, lag_seconds: seconds }) =>
  events === 0 ? 'none' : `${count(events)} events, ${duration(seconds)}`;
