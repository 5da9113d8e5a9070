import { badge } from './dom.js';

const NUMBER = new Intl.NumberFormat('en');
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

export const count = (value) => NUMBER.format(Math.round(value));

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

export const rate = (value) => {
  if (value === 0) return '–';
  if (value < 0.1) return '< 0.1/s';
  return `${value < 10 ? Math.round(value * 10) / 10 : count(value)}/s`;
};

export const moment = (iso) => (iso === null ? '–' : `${MOMENT.format(new Date(iso))} UTC`);

export const duration = (seconds) => {
  if (seconds === null) return 'unknown';
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
};

const TONES = { live: 'good', building: 'plain', paused: 'warn', failed: 'bad' };
const RUNNING = ['asked', 'reading', 'indexing', 'ready'];

export const isBuilding = (build) => build !== null && RUNNING.includes(build.state);

/** `asked` is the stored name of a request that has not started. */
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
