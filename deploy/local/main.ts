import { flushCompileCache } from 'node:module';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { systemClock } from '#platform/clock.ts';
import { openNats } from '#platform/nats/connection.ts';
import { LocalStack, SettingsError } from '#platform/settings.ts';
import { stopOrphans } from './stack/supervisor.ts';
import {
  createDemoWorkspace,
  type DemoWorkspace,
  inviteDemoOwner,
  isKeyValid,
  openDemoCollector,
  openTestWorkspace,
} from './demo/workspace.ts';
import { readDemoState } from './demo/demo-state.ts';
import { startPictures } from './demo/pictures/start-pictures.ts';
import { buildWorld, type CorpusSize } from './demo/world/world.ts';
import { trackBrandsSince } from './demo/track-brands.ts';
import { loadDemo } from './demo/load-demo.ts';
import { livingWorldOf } from './demo/living/living-world.ts';
import { startPulse } from './demo/living/start-pulse.ts';
import { connectReceiver, readSigningSecret } from './demo/receiver/connect-receiver.ts';
import { startReceiver, WEBHOOK_PATH } from './demo/receiver/receiver.ts';
import { FolderInUse, lockFolder } from './os/folder-lock.ts';
import { Interrupted, watchInterrupts } from './os/interrupt-signal.ts';
import { readJsonFile, writeJsonFile } from './os/json-file.ts';
import { choosePort } from './os/ports.ts';
import { createDataFolders } from './os/private-files.ts';
import { openProgress, type Progress } from './stack/progress.ts';
import { readOrCreateSecrets } from './stack/secrets.ts';
import { type Servers, startServers } from './stack/servers.ts';
import { environmentOf, operatorEnvironment, startServices } from './stack/services.ts';
import {
  type Folders,
  foldersOf,
  isTestWorld,
  type LocalSettings,
  readLocalSettings,
  settingsHelp,
} from './stack/settings.ts';
import { summaryOf } from './stack/summary.ts';

const ORPHAN_STOP_MS = 3_000;
/** Each part has a shorter limit of its own; this covers a stop that hangs anyway. */
const STOP_LIMIT_MS = 8_500;
const SERVERS_STOP_MS = 8_000;

/** Small corpora have fewer brands and days, so that each brand has several ads. */
const corpusOf = (ads: number): CorpusSize => ({
  seed: 1,
  ads,
  brands: Math.max(6, Math.min(40, Math.round(ads / 10)), Math.round(ads / 75)),
  days: Math.max(8, Math.min(60, Math.round(ads / 6))),
});

const start = async (
  settings: LocalSettings,
  folders: Folders,
  resources: AsyncDisposableStack,
  progress: Progress,
  signal: AbortSignal,
  stopTimeLeftMs: () => number,
): Promise<string> => {
  await createDataFolders(folders.root, [folders.logs, folders.objects, folders.mail, folders.run]);
  resources.use(await lockFolder(folders.root, folders.run));
  await stopOrphans(folders, ORPHAN_STOP_MS);
  const secrets = await readOrCreateSecrets(folders.secretsFile);
  const servers = await startServers(settings, folders, resources, progress, signal, stopTimeLeftMs);
  const wantsDemo = settings.DEMO_ADS > 0;
  const requested = corpusOf(settings.DEMO_ADS);
  const mediaOrigin = wantsDemo ? await openPictures(settings, requested, servers, folders, resources) : null;
  const services = await startServices(
    settings,
    servers,
    secrets,
    folders,
    mediaOrigin,
    resources,
    progress,
    signal,
  );
  const { apiUrl, opsUrl, mcpUrl, intakeUrl } = services;

  let tracked: readonly string[] = [];
  let firstDayMs = Date.now();
  const loading = wantsDemo
    ? loadDemo(
        servers,
        requested,
        settings.DEMO_PULSE_SECONDS,
        mediaOrigin !== null,
        folders.demoFile,
        progress,
        signal,
      )
    : null;
  const [demoState] = await Promise.all([loading, services.untilReady()]);
  if (demoState !== null) {
    const living = livingWorldOf(demoState, settings.DEMO_PULSE_SECONDS);
    tracked = living.tracked.map(({ domain }) => domain);
    firstDayMs = living.firstDayMs;
  }

  const environment = { ...environmentOf(settings, servers), ...operatorEnvironment(settings, secrets) };
  const track = (created: DemoWorkspace): Promise<void> =>
    trackBrandsSince(
      servers.eventStoreUrl,
      apiUrl,
      created,
      tracked,
      new Date(firstDayMs).toISOString(),
      signal,
    );
  const workspace = await openWorkspace(settings, apiUrl, folders, environment, track, progress, signal);
  signal.throwIfAborted();
  const stack: LocalStack = {
    api_url: apiUrl,
    ops_url: opsUrl,
    mcp_url: mcpUrl,
    intake_url: intakeUrl,
    event_store_url: servers.eventStoreUrl,
    database_url: servers.databaseUrl,
    nats_url: servers.natsUrl,
    workspace_id: workspace.workspace_id,
    api_key: workspace.api_key,
    member_id: workspace.member_id,
  };
  await writeJsonFile(folders.localFile, stack);
  const [receiverUrl, invitation, demo] = await Promise.all([
    tracked.length === 0 ? null : openReceiver(settings, apiUrl, workspace, tracked, folders, resources),
    // A link works once, so each start prints a new one.
    inviteDemoOwner({ ...environment, MCP_BASE_URL: mcpUrl }, workspace),
    demoState === null
      ? []
      : startPulse(
          servers,
          demoState,
          settings.DEMO_PULSE_SECONDS,
          () => openDemoCollector(environment, intakeUrl, folders.collectorFile, signal),
          folders,
          resources,
          progress,
          signal,
        ),
  ]);
  await services.startAfterDemo();
  signal.throwIfAborted();
  const mail =
    settings.SMTP_URL === undefined ? `written as .eml files to ${folders.mail}` : 'sent by SMTP_URL';
  const collector =
    settings.COLLECT_CONTACT === undefined
      ? 'off: set COLLECT_CONTACT to a URL or e-mail address of yours, and it reads the shops of tracked brands'
      : `reads the shops of tracked brands in the internet, as ${settings.COLLECT_CONTACT}`;
  const pictures =
    mediaOrigin === null ? [] : ['Pictures and films of ads are copied now; they load within minutes.'];
  return summaryOf(
    { ...stack, invitation, receiverUrl },
    folders.secretsFile,
    mail,
    collector,
    [...demo, ...pictures],
    tracked[0] ?? null,
  );
};

/** `null` when it is off, and for a demo that was loaded without one. */
const openPictures = async (
  { MEDIA_ARCHIVE }: LocalSettings,
  requested: CorpusSize,
  { natsUrl }: Servers,
  { demoFile }: Folders,
  resources: AsyncDisposableStack,
): Promise<string | null> => {
  const stored = await readDemoState(demoFile);
  if (MEDIA_ARCHIVE === 'off' || (stored !== null && stored.pictures !== true)) return null;
  const nats = resources.use(await openNats(natsUrl, 'demo'));
  const world = buildWorld(stored ?? requested);
  return resources.use(await startPictures(world, nats, systemClock)).origin;
};

/** The alert rules post to the returned address. */
const openReceiver = async (
  settings: LocalSettings,
  apiUrl: string,
  workspace: DemoWorkspace,
  tracked: readonly string[],
  { receiverFile }: Folders,
  resources: AsyncDisposableStack,
): Promise<string> => {
  const secret = isTestWorld(settings)
    ? TEST_WORLD.webhook_secret
    : await readSigningSecret(apiUrl, workspace, receiverFile);
  const receiver = resources.use(await startReceiver(await choosePort(0), systemClock, secret));
  const address = `${receiver.url}${WEBHOOK_PATH}`;
  await connectReceiver(apiUrl, workspace, tracked, address, secret, receiverFile);
  return receiver.url;
};

/** Reuses the workspace of an earlier start if its key is still valid; a test world has one for all. */
const openWorkspace = async (
  settings: LocalSettings,
  apiUrl: string,
  folders: Folders,
  environment: Readonly<Record<string, string>>,
  track: (created: DemoWorkspace) => Promise<void>,
  progress: Progress,
  signal: AbortSignal,
): Promise<DemoWorkspace> => {
  const stored = await readJsonFile(folders.localFile, LocalStack);
  if (isTestWorld(settings)) {
    const opened = await openTestWorkspace(environment);
    if (stored?.api_key !== opened.api_key) await track(opened);
    progress.step(`demo workspace: ${stored === null ? 'created' : 'already exists'}`);
    return opened;
  }
  if (stored !== null && (await isKeyValid(apiUrl, stored, signal))) {
    progress.step('demo workspace: already exists');
    return stored;
  }
  const created = await createDemoWorkspace(environment);
  await track(created);
  progress.step('demo workspace: created');
  return created;
};

const run = async (): Promise<number> => {
  const startedMs = Date.now();
  const progress = openProgress(process.stdout, startedMs);
  const signal = watchInterrupts();
  const resources = new AsyncDisposableStack();
  let exitCode = 0;
  let stopStartedMs = 0;
  const stopTimeLeftMs = (): number => SERVERS_STOP_MS - (Date.now() - stopStartedMs);
  try {
    const settings = readLocalSettings();
    const folders = foldersOf(settings.DATA_DIR);
    const summary = await start(settings, folders, resources, progress, signal, stopTimeLeftMs);
    progress.step('ready');
    console.log(summary);
    // Otherwise written at the exit, within the time of a stop. Services do so: they must not pause while they serve.
    flushCompileCache();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      // The only handle that keeps this process alive: the handles of the servers are unreferenced.
      const keepRunning = setInterval(() => undefined, 60_000);
      signal.addEventListener('abort', () => {
        clearInterval(keepRunning);
        resolve();
      });
    });
  } catch (error) {
    exitCode = signal.aborted || error instanceof Interrupted ? 0 : 1;
    if (error instanceof SettingsError || error instanceof FolderInUse) {
      // Thrown before anything was started, so there is nothing to stop.
      console.error(error.message);
      return exitCode;
    }
    if (exitCode !== 0) console.error(error);
  }
  stopStartedMs = Date.now();
  progress.step('stopping');
  setTimeout(() => {
    progress.step('stopping took too long; exiting');
    process.exit(1);
  }, STOP_LIMIT_MS).unref();
  await resources.disposeAsync();
  progress.step(`stopped in ${((Date.now() - stopStartedMs) / 1_000).toFixed(1)} s`);
  return exitCode;
};

if (process.argv.includes('--help')) {
  console.log(
    `npm start runs the whole service on this machine. Settings (environment variables):\n${settingsHelp()}`,
  );
  process.exit(0);
}
process.exit(await run());
