import { get } from './api.js';
import { html, loaded, plural, show, Table, useData } from './parts.js';

const ROOM_TEXTS = {
  images: 'The quota is nearly full: videos are not stored.',
  nothing: 'The quota is full: nothing is stored. Raise MEDIA_QUOTA_BYTES or set MEDIA_KEEP_DAYS.',
};

export const Collection = () => {
  const data = useData((signal) => get('/ops/collection', signal));
  return loaded(
    data,
    ({ sources, plans, media, accounts, tasks, targets }) => html`
      <p class="muted">
        The collector reads public sites of tracked brands. <code>npm run collect</code> pauses, resumes and retries targets.
      </p>
      ${sources.length === 0 && html`<p>The collector has no targets. It runs only where COLLECT_CONTACT is set.</p>`}
      <${Table} caption="Targets by state" items=${sources}
        fields="source targets due in_flight overdue refused shut paused" />
      <${Table} caption="Targets that do not simply wait" items=${targets}
        fields="domain source cadence states due_at scanned_at outcome detail paused" />
      <${Table} caption="Plan of requests" items=${plans}
        fields="source targets calls_a_round days_a_round load looks_a_day late late_targets"
        draw=${{ load: ({ load }) => `${show(load * 100)} % of the requests that are possible` }} />
      <${Table} caption="Accounts of the official library API" items=${accounts}
        fields="account state shut_until usage_percent token_days_left warning" />
      <${Table} caption="Tasks of other collectors, last 24 hours" items=${tasks}
        fields="type leased done failed expired failing last_reason" />
      <${Table} caption="Media archive" items=${media === null ? [] : [{ ...media, ...media.files }]}
        fields="mode wanted expiring stored missed refused bytes quota_bytes" />
      ${media !== null && html`<p class="bad">${ROOM_TEXTS[media.room]}</p>`}
      <${Table} caption="Files not stored" items=${media?.reasons ?? []} fields="state reason files" />
    `,
  );
};

const ORDER = ['violated', 'not_checked', 'left_out', 'holds'];
const DRAW = {
  first_violation: ({ reason, figures, first: [violation] }) => {
    if (reason || violation === undefined) return show(reason);
    const { brand_id, key, one, other } = violation;
    return `${brand_id} ${key ?? ''}: ${figures[0]} ${one}, ${figures[1]} ${other}`;
  },
  next_step: ({ state, remedy }) => (state === 'violated' ? remedy : '–'),
};

export const Figures = () => {
  const data = useData((signal) => get('/ops/figures', signal));
  return loaded(data, (last) => {
    const { invariants = [], left_out: left = 0 } = last?.report ?? {};
    const rules = invariants.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
    const verified = last?.report
      ? `Verified ${show(last.verified_at)}. ${plural(left, 'brand')} with parked events left out.`
      : 'No figures were verified yet.';
    return html`
      <p class="muted">
        Each night the worker checks the figures of all brands against each other. <code>ops verify</code> does it now.
      </p>
      ${last?.error && html`<p class="bad">The last check failed: ${last.error}</p>`}
      <p>${verified}</p>
      <${Table} caption="Rules" items=${rules} fields="rule state violations first_violation next_step" draw=${DRAW} />
    `;
  });
};
