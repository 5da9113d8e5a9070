import { get, post } from './api-client.js';
import { badge, button, confirmed, element, pairs, say } from './dom.js';
import { NARROW, plot } from './lag-chart.js';
import { repeat } from './polling.js';
import { behind, isBuilding, stateBadges } from './projection-state.js';
import { verificationReport } from './verification.js';
import { count, duration, moment, plural } from './format.js';

/** One projection: its lag, its rebuild as it goes on, its verification. */

const LOOK_EVERY_MS = 5_000;
const LOOK_WHILE_WORKING_MS = 1_000;
const VERIFYING = ['asked', 'reading', 'comparing'];

const progress = ({ facts: events, total_facts: total }, label) =>
  element('progress', { value: String(events), max: String(Math.max(1, total)), 'aria-label': label });

const buildWords = (build) => {
  if (build === null) return ['It was not rebuilt yet.'];
  const { state, facts: events, total_facts: total, rate_per_second: rate, eta_seconds: left, error } = build;
  if (isBuilding(build)) {
    return [
      progress(build, 'Rebuild'),
      element(
        'p',
        {},
        `${state}: ${count(events)} of ${count(total)} events`,
        rate > 0 ? `, ${count(rate)}/s` : '',
        left === null ? '' : `, ${duration(left)} left`,
        state === 'asked' ? '. It begins when the projector that owns it is free.' : '',
      ),
    ];
  }
  const tone = state === 'failed' ? 'bad' : state === 'done' ? 'good' : 'plain';
  return [
    element('p', {}, badge(state, tone), ` ${plural(events, 'event')}, ended ${moment(build.finished_at)}`),
    error === null ? null : element('p', { class: 'bad' }, error),
  ];
};

const verificationWords = (one) => {
  if (one === null) return ['It was not verified yet.'];
  if (VERIFYING.includes(one.state)) {
    return [
      progress(one, 'Verification'),
      element('p', {}, `${one.state}: ${count(one.facts)} of ${count(one.total_facts)} events`),
    ];
  }
  return verificationReport(one);
};

const eventsOf = (one) => [
  ['State', ...stateBadges(one)],
  ['Behind', behind(one)],
  ['Applied', plural(one.facts_applied, 'event')],
  [
    'Parked',
    one.parked === 0
      ? '0'
      : element(
          'a',
          { class: 'bad', href: `#/parked?projection=${encodeURIComponent(one.name)}` },
          count(one.parked),
        ),
    one.skipped === 0 ? '' : `, ${count(one.skipped)} left out`,
  ],
  ['Position', one.position],
  [
    'Version',
    `${one.version}${one.code_version === one.version ? '' : `, code has ${one.code_version ?? 'none'}`}`,
  ],
  ['Projected by', one.owner ?? 'nobody'],
  ['Last moved', moment(one.updated_at)],
  ...(one.last_error === null ? [] : [['Last error', element('span', { class: 'bad' }, one.last_error)]]),
];

/** Draws again only what has changed, so that nothing under the pointer or the focus is exchanged. */
const redraw = (place, state, draw) => {
  const key = JSON.stringify(state);
  if (place.drawn === key) return;
  place.drawn = key;
  place.replaceChildren(...[draw(state)].flat().filter((child) => child !== null));
};

export const show = async ({ main, title, id: name, signal }) => {
  title(name);
  const path = `/ops/projections/${encodeURIComponent(name)}`;
  const places = {
    facts: element('div', {}),
    lag: element('div', {}),
    build: element('div', { class: 'work' }),
    verification: element('div', { class: 'work' }),
  };
  let wake = () => undefined;
  const act = async (what, said, body) => {
    try {
      await post(`${path}/${what}`, body);
      say(said);
    } catch (error) {
      say(error.message, 'bad');
    }
    wake();
  };
  const asking = (question, yes, run) => async () => {
    if (await confirmed(question, yes)) await run();
  };
  const rebuild = button(
    'Rebuild',
    asking(
      `Build ${name} anew beside its tables, from every event, and swap? It is served as it is meanwhile.`,
      'Rebuild',
      () => act('rebuild', 'The rebuild was asked for.', { from: 'start' }),
    ),
    { class: 'main' },
  );
  const goOn = button('Go on with it', () => act('rebuild', 'The rebuild goes on.', { from: 'checkpoint' }));
  const cancel = button('Cancel the rebuild', () => act('cancel', 'Cancelling the rebuild was asked for.'));
  const verify = button('Verify', () => act('verify', 'The verification was asked for.', {}));
  const cancelVerify = button('Cancel the verification', () =>
    act('verify/cancel', 'Cancelling the verification was asked for.'),
  );
  const pause = button(
    'Pause',
    asking(`Stop projecting ${name}? Its tables are served as they are, and get older.`, 'Pause', () =>
      act('pause', `${name} is paused.`),
    ),
  );
  const resume = button('Resume', () => act('resume', `${name} goes on.`));
  main.append(
    element('p', {}, element('a', { href: '#/projections' }, '← All projections')),
    element(
      'section',
      { class: 'panel', 'aria-label': 'How it stands' },
      places.facts,
      element('div', { class: 'actions' }, pause, resume),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Lag' },
      element('h2', {}, 'Behind, over the last hour'),
      places.lag,
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Rebuild' },
      element('h2', {}, 'Rebuild'),
      places.build,
      element('div', { class: 'actions' }, rebuild, goOn, cancel),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Verification' },
      element('h2', {}, 'Verification'),
      element('p', { class: 'muted' }, 'Replays the log beside and compares with the tables.'),
      places.verification,
      element('div', { class: 'actions' }, verify, cancelVerify),
    ),
  );
  let working = false;
  const look = async () => {
    const [one, verification, lags] = await Promise.all([
      get(path, signal),
      get(`${path}/verification`, signal).catch((error) => {
        if (error.status === 404) return null;
        throw error;
      }),
      get('/ops/projections/lag', signal),
    ]);
    const building = isBuilding(one.build);
    const verifying = verification !== null && VERIFYING.includes(verification.state);
    working = building || verifying;
    rebuild.hidden = building;
    goOn.hidden = building || one.build?.state !== 'failed';
    cancel.hidden = !building;
    verify.hidden = verifying;
    cancelVerify.hidden = !verifying;
    pause.hidden = one.state === 'paused';
    resume.hidden = one.state !== 'paused';
    redraw(places.facts, one, () => pairs(eventsOf(one)));
    redraw(places.build, one.build, buildWords);
    redraw(places.verification, verification, verificationWords);
    const series = lags.find(({ projection }) => projection === name) ?? { at: [], lag_facts: [] };
    redraw(places.lag, { ...series, narrow: NARROW.matches }, plot);
  };
  wake = () => void look().catch(() => undefined);
  // A phone that is turned shows the plot as wide as it is now.
  NARROW.addEventListener('change', wake, { signal });
  await repeat(look, () => (working ? LOOK_WHILE_WORKING_MS : LOOK_EVERY_MS), signal);
};
