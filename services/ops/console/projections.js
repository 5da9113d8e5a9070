import { useEffect, useRef } from 'preact/hooks';
import { get, post } from './api.js';
import { badge, Button, html, loaded, notify, Pairs, plural, show, Table, useData } from './parts.js';

const POLL_EVERY_MS = 5_000;
const POLL_WHILE_WORKING_MS = 1_000;
const LAGS_EVERY_MS = 30_000;
const HOUR_SECONDS = 3_600;
const DARK = matchMedia('(prefers-color-scheme: dark)');
const BUILDING = ['asked', 'reading', 'indexing', 'ready'];
const VERIFYING = ['asked', 'reading', 'comparing'];

const link = (href, text) => html`<a href=${`#/${href}`}>${text}</a>`;

const DRAW = {
  name: ({ name }) => link(`projections/${encodeURIComponent(name)}`, name),
  state: ({ state, owner, standing_since: standing, build }) =>
    [
      state,
      owner === null && 'no owner',
      standing !== null && 'stalled',
      BUILDING.includes(build?.state) && `rebuild ${build.state}`,
      build?.state === 'failed' && 'rebuild failed',
    ].flatMap((word) => (word ? badge(word) : [])),
  parked: ({ name, parked }) =>
    parked === 0 ? '0' : link(`parked?projection=${encodeURIComponent(name)}`, show(parked)),
  last_error: ({ last_error: error }) => html`<span class="bad">${show(error)}</span>`,
};

const plotOptions = (isSmall) => {
  const colour = (name) => () => getComputedStyle(document.body).getPropertyValue(name);
  const lag = { label: 'Lag, events', stroke: colour('--accent'), width: 1.5 };
  const axis = { show: !isSmall, stroke: colour('--text-light'), grid: { stroke: colour('--border') } };
  return {
    legend: { show: !isSmall },
    cursor: { show: !isSmall },
    axes: [
      { ...axis, values: '{HH}:{mm}' },
      { ...axis, size: 60 },
    ],
    scales: {
      x: { range: () => [Date.now() / 1_000 - HOUR_SECONDS, Date.now() / 1_000] },
      y: { range: (_, min, most) => [-Math.max(1, most ?? 1) / 20, Math.max(1, most ?? 1)] },
    },
    series: [
      { label: 'Time, UTC', value: '{HH}:{mm}:{ss}' },
      { ...lag, points: { show: false } },
    ],
  };
};

/** Plots the lag of the last hour, again when the samples, the width or the colours change. */
const LagPlot = ({ lags, name, isSmall = false }) => {
  const place = useRef();
  const { at = [], lag_facts: values = [] } = lags.find((one) => one.projection === name) ?? {};
  useEffect(() => {
    const holder = place.current;
    const size = () => ({ width: holder.clientWidth, height: isSmall ? 24 : 200 });
    const closed = new AbortController();
    const { signal } = closed;
    const draw = async () => {
      const { default: Plot } = await import('uplot');
      if (signal.aborted) return;
      const tzDate = (second) => Plot.tzDate(new Date(second * 1_000), 'UTC');
      const samples = [at.map((time) => Date.parse(time) / 1_000), values];
      const plot = new Plot({ ...plotOptions(isSmall), ...size(), tzDate }, samples, holder);
      addEventListener('resize', () => plot.setSize(size()), { signal });
      DARK.addEventListener('change', () => plot.redraw(), { signal });
      signal.addEventListener('abort', () => plot.destroy());
    };
    void draw();
    return () => closed.abort();
  }, [at.at(-1), at.length]);
  const text =
    at.length === 0
      ? 'No samples in the last hour.'
      : `Lag of the last hour: ${show(values.at(-1))} events now, ${show(Math.max(...values))} at most.`;
  return html`
    <div class="plot" role="img" aria-label=${text} ref=${place}></div>
    ${!isSmall && html`<p class="muted">${text}</p>`}
  `;
};

const readLags = (signal) => get('/ops/projections/lag', signal);

export const Projections = () => {
  const { value: lags = [] } = useData(readLags, () => LAGS_EVERY_MS);
  const data = useData(
    (signal) => get('/ops/projections', signal),
    () => POLL_EVERY_MS,
  );
  const draw = { ...DRAW, last_hour: ({ name }) => html`<${LagPlot} isSmall lags=${lags} name=${name} />` };
  return loaded(data, (all) => {
    const late = all.filter((one) => one.lag_facts > 0).length;
    const parked = all.reduce((sum, one) => sum + one.parked, 0);
    return html`
      <p class="muted">${`${plural(all.length, 'projection')}, ${show(late)} behind, ${show(parked)} events parked`}</p>
      <${Table} items=${all} draw=${draw} keyOf=${({ name }) => name}
        fields="name state lag_facts lag_seconds last_hour rate_per_second parked version code_version" />
    `;
  });
};

const differenceText = ({ key, only_in: side, columns }) => {
  const where = Object.entries(key).map(([column, value]) => `${column}=${value ?? 'null'}`);
  const found = { live: 'is unexpected', replayed: 'is missing' }[side] ?? `differs in ${columns.join(', ')}`;
  return html`<li>${where.join(' ')} ${found}</li>`;
};
const DIFFERENCE = {
  differs_for: ({ groups }) => groups && `${show(groups.count)} ${groups.column}: ${show(groups.first)}`,
  first_rows: ({ first_keys: keys }) => html`<ul>${keys.map(differenceText)}</ul>`,
};

const Report = ({ report }) => {
  const differing = report.tables.filter((table) => !table.is_equal);
  const events = `${plural(report.facts, 'event')} up to position ${report.position}`;
  return html`
    <p>
      ${plural(report.tables.length, 'table')} compared with a replay of ${events}, without${' '}
      ${plural(report.left_out, 'parked or skipped event')}. ${differing.length === 0 && 'No differences.'}
    </p>
    <${Table} caption="Differences" items=${differing} draw=${DIFFERENCE}
      fields="table live_rows replayed_rows differs_for first_rows" />
  `;
};

const WORK = 'state facts total_facts rate_per_second eta_seconds finished_at error';

/** A rebuild or a verification. */
const Work = ({ title, item, isRunning, actions, children }) => html`
  <article aria-label=${title}>
    <h2>${title}</h2>
    ${isRunning && html`<progress aria-label=${title} value=${item.facts} max=${Math.max(1, item.total_facts)}></progress>`}
    ${item ? html`<${Pairs} item=${item} fields=${WORK} />` : html`<p>Never done.</p>`}
    ${children} ${actions}
  </article>
`;

export const Projection = ({ id: name }) => {
  const path = `/ops/projections/${encodeURIComponent(name)}`;
  const noneYet = (error) => {
    if (error.status === 404) return null;
    throw error;
  };
  const read = async (signal) => {
    const verification = get(`${path}/verification`, signal).catch(noneYet);
    const [one, verified, lags] = await Promise.all([get(path, signal), verification, readLags(signal)]);
    const isBuilding = BUILDING.includes(one.build?.state);
    return { one, verified, lags, isBuilding, isVerifying: VERIFYING.includes(verified?.state) };
  };
  const data = useData(read, (last) =>
    last?.isBuilding || last?.isVerifying ? POLL_WHILE_WORKING_MS : POLL_EVERY_MS,
  );
  const button = (label, action, body, ask) => {
    const act = async () => {
      try {
        await post(`${path}/${action}`, body);
        notify(`${label} requested.`);
      } finally {
        data.reload();
      }
    };
    return html`<${Button} key=${label} act=${act} ask=${ask}>${label}<//> `;
  };
  const rebuildText = `Rebuild ${name} into new tables, then swap them in? The current tables stay in use until the swap.`;
  const rebuild = button('Rebuild', 'rebuild', { from: 'start' }, rebuildText);
  const goOn = button('Continue rebuild', 'rebuild', { from: 'checkpoint' });
  const pauseText = `Pause ${name}? Its tables stay readable, but new events are not applied until you resume it.`;
  const pause = button('Pause', 'pause', {}, pauseText);
  return loaded(
    data,
    ({ one, verified, lags, isBuilding, isVerifying }) => html`
      <article aria-label="Status">
        <${Pairs} item=${one} draw=${DRAW}
          fields="state lag_facts lag_seconds facts_applied parked skipped position version code_version owner updated_at last_error" />
        ${one.state === 'paused' ? button('Resume', 'resume') : pause}
      </article>
      <article aria-label="Lag">
        <h2>Lag, last hour</h2>
        <${LagPlot} lags=${lags} name=${name} />
      </article>
      <${Work} title="Rebuild into new tables" item=${one.build} isRunning=${isBuilding}
        actions=${isBuilding ? button('Cancel rebuild', 'cancel') : [rebuild, one.build?.state === 'failed' && goOn]} />
      <${Work} title="Comparison of the tables with a replay of the log" item=${verified} isRunning=${isVerifying}
        actions=${isVerifying ? button('Cancel verification', 'verify/cancel') : button('Verify', 'verify')}>
        ${verified?.report && html`<${Report} report=${verified.report} />`}
      <//>
    `,
  );
};
