import { useState } from 'preact/hooks';
import { get, post } from './api.js';
import { badge, Button, Filters, html, Json, loaded, notify, Pages, plural, show, useData } from './parts.js';

const Event = ({ item: { projection, stream } }) => {
  const path = [projection, stream].map(encodeURIComponent).join('/');
  const data = useData((signal) => get(`/ops/parked/${path}`, signal));
  return loaded(data, (parked) => html`<${Json} item=${parked} />`);
};

const Actions = ({ projection, stream, type, asked }) => {
  const [requested, setRequested] = useState(asked);
  const act = (action, body) => async () => {
    await post(`/ops/parked/${action}`, { projection, ...body });
    setRequested(action);
    notify(`${action} of ${stream} in ${projection} requested.`);
  };
  const question = `Exclude this ${type} of ${stream} from ${projection} for good, and apply the events waiting behind it?`;
  return html`
    <div class="actions">
      <${Button} act=${act('retry', { streams: [stream] })} aria-label="Retry ${stream}">Retry<//>
      <${Button} act=${act('skip', { stream })} ask=${question} aria-label="Skip the event of ${stream}">Skip<//>
      ${requested !== null && badge(`${requested} requested`)}
    </div>
  `;
};

const DRAW = { actions: (one) => html`<${Actions} ...${one} />` };

export const Parked = ({ values }) => {
  const { projection = '' } = values;
  const retryAll = async () => {
    const { streams_asked: streams } = await post('/ops/parked/retry', { projection, streams: 'all' });
    notify(`${plural(streams, 'stream')} of ${projection} will be retried.`);
  };
  const { value: all = [] } = useData((signal) => get('/ops/projections', signal));
  const options = all.map(({ name, parked }) => [name, `${name} (${show(parked)})`]);
  return html`
    <p class="muted">
      An event that a projection cannot apply is parked, together with the later events of its stream. All other streams
      continue. Fix the code, then retry.
    </p>
    <${Filters} page="parked" values=${values} fields=${[{ name: 'projection', options: [['', 'All'], ...options] }]} />
    ${projection !== '' && html`<${Button} act=${retryAll}>Retry all of ${projection}<//>`}
    <${Pages} path="/ops/parked" filter=${{ projection }} empty="No parked events."
      fields="stream projection type error waiting attempts parked_at actions" draw=${DRAW} Detail=${Event}
      keyOf=${(one) => `${one.projection} ${one.stream}`} />
  `;
};

export const Waiting = () => html`
  <p class="muted">
    Alert rules do not fire on the events of these streams, because this release cannot read the first of them. All other
    streams continue. Deploy the release that recorded the event.
  </p>
  <${Pages} path="/ops/alerts/waiting" empty="No waiting streams."
    fields="stream type version waiting since" />
`;
