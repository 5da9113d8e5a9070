import { useEffect, useState } from 'preact/hooks';
import { download, get } from './api.js';
import { badge, Button, Filters, html, Json, loaded, notify, Pages, show, useData } from './parts.js';

const FILTERS = [
  { name: 'actor', placeholder: 'who: member:mem_…' },
  { name: 'type', placeholder: 'what: BrandTracked' },
  { name: 'resource', placeholder: 'apiKeys' },
  { name: 'since', type: 'date' },
  { name: 'until', type: 'date' },
];
const DRAW = {
  actor: ({ actor }) => `${actor.kind} ${actor.id}`,
  resource: ({ resource }) => `${resource.category} ${resource.id}`,
};

const Chain = ({ path, workspace }) => {
  const [status, setStatus] = useState('Each entry contains the hash of the previous entry.');
  const check = async () => {
    setStatus('Checking …');
    const one = await get(`${path}/chain`, undefined, 0).catch(({ message }) => ({ message }));
    const place = one.intact
      ? `whole up to entry ${show(one.entries)}, of ${show(one.last_recorded_at)}.`
      : `broken at entry ${show(one.broken_at)}; the last whole one is of ${show(one.last_recorded_at)}.`;
    setStatus(
      one.message ??
        html`${badge(one.intact ? 'intact' : 'broken')}${place} Head hash <code>${one.head_hash}</code>`,
    );
  };
  useEffect(() => void check(), [path]);
  const save = (format) => async () => {
    notify('Exporting …');
    await download(`${path}/export?format=${format}`, `history-${workspace}-${format}.tar`);
    notify('Export saved. Verify it: ops audit verify FOLDER --public-key FILE');
  };
  return html`
    <article aria-label="Hash chain and export">
      <h2>Hash chain</h2>
      <p>${status}</p>
      <div class="actions">
        <${Button} act=${check}>Check chain<//>
        <${Button} act=${save('ndjson')}>Export as NDJSON<//>
        <${Button} act=${save('csv')}>Export as CSV<//>
      </div>
    </article>
  `;
};

export const Histories = ({ values }) => {
  const data = useData((signal) => get('/ops/workspaces', signal));
  return loaded(data, (workspaces) => {
    const { workspace = workspaces[0]?.workspace_id ?? '', ...filter } = values;
    const options = workspaces.map((one) => [one.workspace_id, `${one.name} (${one.workspace_id})`]);
    if (!options.some(([id]) => id === workspace)) options.unshift([workspace, workspace]);
    const path = `/ops/workspaces/${encodeURIComponent(workspace)}/history`;
    const history = html`
      <${Chain} path=${path} workspace=${workspace} />
      <${Pages} path=${path} filter=${filter} caption="Entries, newest first" empty="No entries found."
        fields="sequence recorded_at sentence type actor resource" draw=${DRAW} Detail=${Json}
        keyOf=${(one) => one.sequence} />
    `;
    return html`
      <${Filters} page="history" values=${{ ...filter, workspace }}
        fields=${[{ name: 'workspace', options }, ...FILTERS]} />
      ${workspace === '' ? html`<p class="muted">No workspaces yet.</p>` : history}
    `;
  });
};
