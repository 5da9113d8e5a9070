import { get, post } from './api.js';
import { Button, Filters, html, Json, loaded, notify, Pages, Pairs, show, Table, useData } from './parts.js';

const STATUSES = ['queued', 'retrying', 'delivered', 'failed', 'cancelled'].map((name) => [name, name]);
const FILTERS = [
  { name: 'status', options: [['', 'All'], ...STATUSES] },
  { name: 'workspace', placeholder: 'ws_…' },
  { name: 'since', type: 'date' },
];
const LINK = {
  queued_at: (one) => html`<a href=${`#/deliveries/${one.delivery_id}`}>${show(one.queued_at)}</a>`,
};

export const Deliveries = ({ values }) => html`
  <${Filters} page="deliveries" values=${values} fields=${FILTERS} />
  <${Pages} path="/ops/deliveries" filter=${values} cursorName="after" caption="Deliveries, newest first"
    empty="No deliveries found." fields="queued_at status channel kind attempts next_attempt_at workspace_id"
    draw=${LINK} keyOf=${(one) => one.delivery_id} />
`;

const DRAW = {
  workspace_id: (one) => html`<a href=${`#/history?workspace=${one.workspace_id}`}>${one.workspace_id}</a>`,
  answer: ({ answer }) =>
    answer ? html`<details><summary>Show</summary><pre tabindex="0">${answer}</pre></details>` : '–',
};

export const Delivery = ({ id }) => {
  const data = useData((signal) => get(`/ops/deliveries/${encodeURIComponent(id)}`, signal));
  const act = (action, success) => async () => {
    try {
      const { replayed, cancelled } = await post(`/ops/deliveries/${action}`, { ids: [id] });
      notify((replayed ?? cancelled) === 0 ? 'Nothing to do.' : success);
    } finally {
      data.reload();
    }
  };
  const replay = html`<${Button} act=${act('replay', 'Replay started.')}>Replay<//>`;
  const question = 'Cancel this delivery? No further attempts are made.';
  const cancel = html`<${Button} act=${act('cancel', 'Delivery cancelled.')} ask=${question}>Cancel<//>`;
  return loaded(
    data,
    (one) => html`
      <article aria-label="Delivery">
        <${Pairs} item=${one} draw=${DRAW}
          fields="status channel kind queued_at next_attempt_at finished_at workspace_id alert_id delivery_id" />
        ${one.next_attempt_at === null ? replay : cancel}
      </article>
      <${Table} caption="Events of this delivery" items=${one.history} draw=${DRAW}
        fields="at type attempt outcome failure status_code answer duration_ms reason" />
      <h2>Payload</h2>
      <${Json} item=${one.payload} />
    `,
  );
};
