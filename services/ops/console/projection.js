import { get, post } from './api-client.js';
import { badge, button, confirmed, element, notify, pairs } from './dom.js';
import { NARROW, plot } from './lag-chart.js';
import { poll } from './polling.js';
import { verificationReport } from './verification.js';
import { count, duration, formatState, isBuilding, lagText, moment, plural, stateBadges } from './format.js';

const POLL_EVERY_MS = 5_000;
const POLL_WHILE_WORKING_MS = 1_000;
const VERIFYING = ['asked', 'reading', 'comparing'];

const progress = ({ facts: events, total_facts: total }, label) =>
  element('progress', { value: String(events), max: String(Math.max(1, total)), 'aria-label': label });

const drawBuild = (build) => {
  if (build === null) return ['Never rebuilt.'];
  const { state, facts: events, total_facts: total, rate_per_second: rate, eta_seconds: left, error } = build;
  if (isBuilding(build)) {
    return [
      progress(build, 'Rebuild'),
      element(
        'p',
        {},
        `${formatState(state)}: ${count(events)} of ${count(total)} events`,
        rate > 0 ? `, ${count(rate)}/s` : '',
        left === null ? '' : `, ${duration(left)} left`,
        state === 'asked' ? '. Waiting for the projector that owns it.' : '',
      ),
    ];
  }
  const tone = state === 'failed' ? 'bad' : state === 'done' ? 'good' : 'plain';
  return [
    element('p', {}, badge(state, tone), ` ${plural(events, 'event')}, ended ${moment(build.finished_at)}`),
    error === null ? null : element('p', { class: 'bad' }, error),
  ];
};

const drawVerification = (one) => {
  if (one === null) return ['Never verified.'];
  if (VERIFYING.includes(one.state)) {
    return [
      progress(one, 'Verification'),
      element('p', {}, `${formatState(one.state)}: ${count(one.facts)} of ${count(one.total_facts)} events`),
    ];
  }
  return verificationReport(one);
};

const statusPairs = (one) => [
  ['State', ...stateBadges(one)],
  ['Lag', lagText(one)],
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
    one.skipped === 0 ? '' : `, ${count(one.skipped)} skipped`,
  ],
  ['Position', one.position],
  [
    'Version',
    `${one.version}${one.code_version === one.version ? '' : `, code has ${one.code_version ?? 'none'}`}`,
  ],
  ['Owner', one.owner ?? 'No owner'],
  ['Last progress', moment(one.updated_at)],
  ...(one.last_error === null ? [] : [['Last error', element('span', { class: 'bad' }, one.last_error)]]),
];

const redraw = (container, state, draw) => {
  const key = JSON.stringify(state);
  if (container.drawn === key) return;
  container.drawn = key;
  container.replaceChildren(...[draw(state)].flat().filter((child) => child !== null));
};

export const show = async ({ main, title, id: name, signal }) => {
  title(name);
  const path = `/ops/projections/${encodeURIComponent(name)}`;
  const containers = {
    status: element('div', {}),
    lag: element('div', {}),
    build: element('div', { class: 'work' }),
    verification: element('div', { class: 'work' }),
  };
  let wake = () => undefined;
  const act = async (action, success, body) => {
    try {
      await post(`${path}/${action}`, body);
      notify(success);
    } catch (error) {
      notify(error.message, 'bad');
    }
    wake();
  };
  const confirmFirst = (question, yes, run) => async () => {
    if (await confirmed(question, yes)) await run();
  };
  const rebuild = button(
    'Rebuild',
    confirmFirst(
      `Rebuild ${name} from all events into new tables, then swap them in? The current tables stay in use until the swap.`,
      'Rebuild',
      () => act('rebuild', 'Rebuild requested.', { from: 'start' }),
    ),
    { class: 'main' },
  );
  const continueRebuild = button('Continue rebuild', () =>
    act('rebuild', 'Rebuild continues.', { from: 'checkpoint' }),
  );
  const cancel = button('Cancel rebuild', () => act('cancel', 'Cancellation of the rebuild requested.'));
  const verify = button('Verify', () => act('verify', 'Verification requested.', {}));
  const cancelVerify = button('Cancel verification', () =>
    act('verify/cancel', 'Cancellation of the verification requested.'),
  );
  const pause = button(
    'Pause',
    confirmFirst(
      `Pause ${name}? Its tables stay readable, but new events are not applied until you resume it.`,
      'Pause',
      () => act('pause', `${name} paused.`),
    ),
  );
  const resume = button('Resume', () => act('resume', `${name} resumed.`));
  main.append(
    element('p', {}, element('a', { href: '#/projections' }, '← All projections')),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Status' },
      containers.status,
      element('div', { class: 'actions' }, pause, resume),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Lag' },
      element('h2', {}, 'Lag, last hour'),
      containers.lag,
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Rebuild' },
      element('h2', {}, 'Rebuild'),
      containers.build,
      element('div', { class: 'actions' }, rebuild, continueRebuild, cancel),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Verification' },
      element('h2', {}, 'Verification'),
      element(
        'p',
        { class: 'muted' },
        'Replays the log into a shadow schema and compares the result with the live tables.',
      ),
      containers.verification,
      element('div', { class: 'actions' }, verify, cancelVerify),
    ),
  );
  let working = false;
  const load = async () => {
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
    continueRebuild.hidden = building || one.build?.state !== 'failed';
    cancel.hidden = !building;
    verify.hidden = verifying;
    cancelVerify.hidden = !verifying;
    pause.hidden = one.state === 'paused';
    resume.hidden = one.state !== 'paused';
    redraw(containers.status, one, () => pairs(statusPairs(one)));
    redraw(containers.build, one.build, drawBuild);
    redraw(containers.verification, verification, drawVerification);
    const series = lags.find(({ projection }) => projection === name) ?? { at: [], lag_facts: [] };
    redraw(containers.lag, { ...series, narrow: NARROW.matches }, plot);
  };
  wake = () => void load().catch(() => undefined);
  NARROW.addEventListener('change', wake, { signal });
  await poll(load, () => (working ? POLL_WHILE_WORKING_MS : POLL_EVERY_MS), signal);
};
