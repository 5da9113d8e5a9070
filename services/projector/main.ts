import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import { projections } from '#projections/index.ts';
import { runProjections } from './run.ts';
import { tracedProjections } from './subscription/traced-projections.ts';
import { ProjectorSettings } from './settings.ts';

await runProcess('projector', ProjectorSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL } = settings;
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  const running = runProjections({
    databaseUrl: DATABASE_URL,
    eventStoreUrl: EVENT_STORE_URL,
    projections: tracedProjections(projections),
    log,
    signal,
  });
  resources.defer(() => running);
  operatorPort.started();
});
