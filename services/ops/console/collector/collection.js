import { get } from '../api-client.js';
import { badge, element, row, table } from '../dom.js';
import { count, moment, plural } from '../format.js';

const SOURCE_COLUMNS = ['Source', 'Targets', 'Due', 'In flight', 'Overdue', 'Refused', 'Shut', 'Paused'];
const TASK_COLUMNS = ['Task', 'Leased', 'Done', 'Failed', 'Expired', 'Brands failing', 'Last failure'];
const TARGET_COLUMNS = ['Target', 'State', 'Due', 'Last scan', 'Last result'];
const TONES = {
  due: 'plain',
  in_flight: 'good',
  overdue: 'bad',
  refused: 'warn',
  shut: 'warn',
  paused: 'warn',
};

const sourceRow = ({ source, targets, due, in_flight: reading, overdue, refused, shut, paused }) =>
  row(SOURCE_COLUMNS, [source, ...[targets, due, reading, overdue, refused, shut, paused].map(count)]);

const taskRow = ({ type, leased, done, failed, expired, failing, last_reason: reason }) =>
  row(TASK_COLUMNS, [type, ...[leased, done, failed, expired, failing].map(count), reason ?? '–']);

const stateBadges = (states) =>
  element('span', {}, ...states.flatMap((state) => [badge(state.replace('_', ' '), TONES[state]), ' ']));

const targetRow = (target) =>
  row(TARGET_COLUMNS, [
    `${target.domain} (${target.source}, ${target.cadence})`,
    stateBadges(target.states),
    moment(target.due_at),
    moment(target.scanned_at),
    target.paused ?? ([target.outcome, target.detail].filter(Boolean).join(': ') || '–'),
  ]);

const planText = (plan) => {
  const {
    source,
    targets,
    calls_a_round: calls,
    days_a_round: days,
    load,
    looks_a_day: looks,
    late,
    late_targets: names,
  } = plan;
  const round = `${source}: a round of ${plural(targets, 'target')} takes ${plural(Math.ceil(calls), 'request')}`;
  const time = days < 1 ? `${Math.round(days * 24 * 10) / 10} hours` : `${Math.round(days * 10) / 10} days`;
  const share = `${Math.round(load * 1_000) / 10} % of the requests that are possible`;
  const missing =
    late === 0 ? 'None will be late.' : `${plural(late, 'target')} will be late: ${names.join(', ')}.`;
  const between =
    looks === 0 ? '' : ` Between the scans, ${plural(looks, 'request')} a day look for new ads.`;
  return `${round} and ${time}. The cadences need ${share}.${between} ${missing}`;
};

const MEDIA_COLUMNS = ['Archive', 'Wanted', 'Expiring', 'Stored', 'Missed', 'Refused', 'Size', 'Quota'];
const REASON_COLUMNS = ['Files not stored', 'Reason', 'Files'];
const ROOM_TEXTS = {
  images: 'The quota is nearly full: videos are not stored.',
  nothing: 'The quota is full: nothing is stored. Raise MEDIA_QUOTA_BYTES or set MEDIA_KEEP_DAYS.',
};

const gigabytes = (bytes) => (bytes === null ? '–' : `${Math.round(bytes / 1e6) / 1e3} GB`);

const mediaParts = ({ mode, files, bytes, quota_bytes: quota, room, reasons }) => [
  table('Media archive', MEDIA_COLUMNS, [
    row(MEDIA_COLUMNS, [
      mode ?? 'Not started',
      ...[files.wanted, files.expiring, files.stored, files.missed, files.refused].map(count),
      gigabytes(bytes),
      gigabytes(quota),
    ]),
  ]),
  ...(room === 'all' ? [] : [element('p', {}, badge('Quota', 'bad'), ` ${ROOM_TEXTS[room]}`)]),
  ...(reasons.length === 0
    ? []
    : [
        table(
          'Files not stored',
          REASON_COLUMNS,
          reasons.map(({ state, reason, files: of }) => row(REASON_COLUMNS, [state, reason, count(of)])),
        ),
      ]),
];

const accountText = ({
  account,
  state,
  shut_until: until,
  usage_percent: usage,
  token_days_left: days,
  warning,
}) => {
  const access = state === 'shut' ? `Shut until ${moment(until)}` : state === 'off' ? 'Off' : 'Open';
  const used = usage === null ? '' : `, ${Math.round(usage)} % used`;
  const name = account === 'default' ? '' : `, account ${account}`;
  return `Official library API${name}: ${access}${used}. The token ends in ${plural(days, 'day')}. ${warning ?? ''}`;
};

export const show = async ({ main, title, signal }) => {
  title('Collection');
  const { sources, plans, media, accounts, tasks, targets } = await get('/ops/collection', signal);
  main.append(
    element(
      'p',
      { class: 'muted' },
      'The collector reads public sites of tracked brands. `npm run collect` pauses, resumes and retries targets.',
    ),
  );
  if (media !== null) main.append(...mediaParts(media));
  if (tasks.length > 0) {
    main.append(table('Tasks of other collectors, last 24 hours', TASK_COLUMNS, tasks.map(taskRow)));
  }
  if (sources.length === 0) {
    main.append(element('p', {}, 'The collector has no targets. It runs only where COLLECT_CONTACT is set.'));
    return;
  }
  main.append(table('Targets by state', SOURCE_COLUMNS, sources.map(sourceRow)));
  main.append(...plans.map((plan) => element('p', {}, planText(plan))));
  for (const account of accounts) main.append(element('p', {}, accountText(account)));
  main.append(
    targets.length === 0
      ? element('p', {}, 'All targets wait for their time.')
      : table('Targets that do not simply wait', TARGET_COLUMNS, targets.map(targetRow)),
  );
};
