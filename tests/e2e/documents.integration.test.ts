import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSite } from '#tests/world/site-world.ts';
import { inheritedEnvironment, type LocalStack } from '#platform/settings.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { openPlayedSites, type PlayedSites } from '../platform/http-client/played-sites.ts';
import { readDocuments, withoutComment } from '../stack/documents.ts';
import { until } from '../stack/wait-until.ts';
import { HOSTED_FUNCTION, openCommandBridge } from './command-bridge.ts';
import { allGone, StackProcess } from './local-stack-process.ts';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../..');
const CASE_LIMIT_MS = 300_000;
/** Limit of one example, also on a busy machine; the longest waits for a rebuild. */
const EXAMPLE_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 10_000;
/** After a slow disk's last checkpoint PostgreSQL ends by itself, later than `npm start`. */
const LEAVE_LIMIT_MS = 30_000;

const NEEDS_DOCKER = 'needs a Docker engine';
const NEEDS_PROMTOOL = 'needs promtool';
const RUNS_ALL = 'runs the test suite or the benches, or installs packages';
const WRITES = 'writes to files of the project';
const SECOND_PROCESS = 'the stack already runs this process';
const ENDLESS = 'runs until Ctrl-C';
const OWN_TEST = 'run by the tests of alert signatures';
const ATTESTED = 'says unchecked before the first night; run by tests/ops/attest';
const SECOND_STORE = 'needs another event store; run by tests/ops/log';

/** Lines that are not run, with the reason. A line that is a comment stands for its whole block. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci && npm start': RUNS_ALL,
  'npm ci && npm test': RUNS_ALL,
  'npm ci': RUNS_ALL,
  'npm test': RUNS_ALL,
  'npm run check': RUNS_ALL,
  'npm run trial -- takeovers': RUNS_ALL,
  'npm run trial -- slow-reads --runs 2': RUNS_ALL,
  'npm run trials': RUNS_ALL,
  'npm run attack': RUNS_ALL,
  'npm run attack -- api/long-streams': RUNS_ALL,
  'npx vitest run --config tests/vitest.config.ts --project unit': RUNS_ALL,
  'npx vitest run --config tests/vitest.config.ts --project integration tests/ops': RUNS_ALL,
  'npx vitest run --config tests/vitest.config.ts --project unit tests/reference': RUNS_ALL,
  'npx vitest run --config tests/vitest.config.ts --project integration tests/reference': RUNS_ALL,
  'npm run bench': RUNS_ALL,
  'npm run bench -- api ingest': RUNS_ALL,
  'npm run bench -- --report': RUNS_ALL,
  'npm run bench -- --compare main api writes': RUNS_ALL,
  'npm run format': WRITES,
  'npm run openapi': WRITES,
  'npm run settings': WRITES,
  'npm run start:collector': SECOND_PROCESS,
  'npm run start:media': SECOND_PROCESS,
  'npm run ops -- log tail --category tracking': ENDLESS,
  'npm run ops -- audit follow "$WS"': ENDLESS,
  'WEBHOOK_SECRET=$(node -p \'require("./.data/receiver.json").webhook_secret\') npm run api -- listen --trigger new_ads stopped_ads':
    ENDLESS,
  'npm run ops -- projections rebuild --all --detach': 'keeps the machine busy during the other examples',
  'npm run ops -- projections cancel radar': 'a rebuild of the small demo ends before it can be cancelled',
  'docker compose -f deploy/compose.yaml up --build': NEEDS_DOCKER,
  'docker compose -f deploy/compose.yaml run --rm ops node services/ops/cli.ts workspace create --name Mine --plan pro':
    NEEDS_DOCKER,
  'docker compose stop': NEEDS_DOCKER,
  'docker build --target trial --tag ad-intelligence-trial --file deploy/Dockerfile .': NEEDS_DOCKER,
  'docker run --init --publish 127.0.0.1:8080:8080 --volume trial:/data ad-intelligence-trial': NEEDS_DOCKER,
  'npm run ops -- log copy --to "esdb://user:password@host:2113?tls=true"': SECOND_STORE,
  'npm run ops -- log compare --to "esdb://user:password@host:2113?tls=true"': SECOND_STORE,
  'npm run ops -- log adopt --yes': 'refused while the services run; run by tests/local/backup',
  'npm run ops -- attest': ATTESTED,
  'npm run ops -- attest verify report.html --public-key operator.pem': ATTESTED,
  'kubectl apply --kustomize deploy/kubernetes': 'needs a cluster',
  'promtool check rules deploy/prometheus/alerts.yml': NEEDS_PROMTOOL,
  'promtool test rules deploy/prometheus/alerts.test.yml': NEEDS_PROMTOOL,
  '# verify.sh TIMESTAMP SIGNATURE < body, with the secret in SECRET: exits 0 when the request is genuine':
    OWN_TEST,
};

type Example = {
  readonly path: string;
  readonly line: number;
  readonly lines: readonly string[];
};

const examplesIn = (languages: string): readonly Example[] =>
  readDocuments().flatMap(({ path, text }) =>
    [...text.matchAll(new RegExp(`^( *)\`\`\`(?:${languages})\\n([^]*?)^\\1\`\`\`$`, 'gm'))].map(
      ({ index, 2: body = '' }) => ({
        path,
        line: text.slice(0, index).split('\n').length + 1,
        lines: body.trimEnd().split('\n'),
      }),
    ),
  );
const examples = examplesIn('sh|bash');

const keyOf = (line: string): string => (line.trim().startsWith('#') ? line.trim() : withoutComment(line));

const GUIDE = 'contracts/guide/';
const guidePrograms = examplesIn('ts').filter(({ path }) => path.startsWith(GUIDE));
/** Sets the variables and functions that all examples of the guide use. */
const guideSetUp = examples.find(({ path }) => path === `${GUIDE}first-call.md`)?.lines ?? [];

const scriptOf = ({ path, lines }: Example): string => {
  if (NOT_RUN[keyOf(lines[0] ?? '')] !== undefined && lines[0]?.startsWith('#')) return '';
  const setUp = path.startsWith(GUIDE) ? guideSetUp : [];
  return [...setUp, ...lines].filter((line) => NOT_RUN[keyOf(line)] === undefined).join('\n');
};

const isEmpty = (script: string): boolean => script.split('\n').every((line) => withoutComment(line) === '');

test('every line that is not run is still in a document', () => {
  const lines = new Set(examples.flatMap((example) => example.lines.map(keyOf)));
  expect(Object.keys(NOT_RUN).filter((line) => !lines.has(line))).toEqual([]);
});

const AD = {
  ad_archive_id: '7100000000000014',
  page_id: '400000000000011',
  page_name: 'Shop',
  is_active: true,
  start_date: 1_767_254_400,
  publisher_platform: ['FACEBOOK'],
  snapshot: {
    body: { text: 'Warm feet' },
    title: 'Socks',
    cta_text: 'Shop now',
    link_url: 'https://shop.example/',
    display_format: 'IMAGE',
  },
};
const CSV = `facebook_page_id,facebook_page_name,target_country,ad_library_id,ad_start_date,ad_primary_text,ad_cta_label,ad_destination_url
400000000000011,Shop,IN,7100000000000014,2026-02-01,Warm feet,Shop now,https://shop.example/
`;

/** Site with its own answers, so that the collector need not wait between requests. */
const SITE = {
  domain: 'shop.example',
  name: 'Shop',
  description: 'Socks',
  company: 'Shop GmbH',
  country: 'DE',
  scripts: [],
  products: ['sock'],
};

/** Settings of a small corpus without pictures, which shows the same. */
const SMALL_DEMO = { DEMO_ADS: '40', MEDIA_ARCHIVE: 'off' };

const PROGRAMS = ['ops', 'api', 'collect'] as const;
const HOSTED = Object.fromEntries(PROGRAMS.map((program) => [program, `hosted ${program}`]));
const SCRIPTS = Object.entries({ ...packageJson.scripts, ...HOSTED }).map(
  ([name, script]) => `['${name}']='${script}'`,
);
/**
 * Makes a refused request fail the example. Avoids npm, which starts longer than most commands; the commands of a
 * program share one process.
 */
const PRELUDE = `set -euo pipefail
${HOSTED_FUNCTION}curl() { command curl --fail-with-body "$@"; }
declare -A scripts=(${SCRIPTS.join(' ')})
npm() {
  shift
  if [ "$1" = --silent ]; then shift; else echo "> npm run $1"; fi
  local script=$1
  shift 2
  \${scripts[$script]} "$@"
}
`;
/** Master key that has encrypted nothing, so the example of rotation has nothing to do. */
const SECOND_VAULT_KEY = Buffer.alloc(32, 1).toString('base64');

describe('shell examples in the documents', { timeout: CASE_LIMIT_MS }, () => {
  let demo: LocalStack;
  const resources = new AsyncDisposableStack();
  let folder: string;
  let work: string;
  let stack: StackProcess;
  let played: PlayedSites;
  let environment: Record<string, string>;

  const shell = (script: string, env = environment) =>
    run('bash', ['-c', `${PRELUDE}${script}`], { cwd: work, env, timeout: EXAMPLE_LIMIT_MS });

  /** Creates links to the project's files, without data. */
  const createWorkingCopy = async (): Promise<void> => {
    work = await mkdtemp(join(tmpdir(), 'documents-'));
    resources.defer(() => rm(work, { recursive: true, force: true }));
    for (const name of await readdir(PROJECT)) {
      if (!['.git', '.data', '.cache'].includes(name)) await symlink(join(PROJECT, name), join(work, name));
    }
    await symlink(folder, join(work, '.data'));
    await writeFile(join(work, 'export.json.gz'), gzipSync(JSON.stringify(AD)));
    await mkdir(join(work, 'scans'));
    await writeFile(join(work, 'scans/fb-ads-shop-2026-03-02-1015.csv.gz'), gzipSync(CSV));
    const brands = { brands: [{ group: 'shop', name: 'Shop', domain: 'shop.example' }] };
    await writeFile(join(work, 'brands.json'), JSON.stringify(brands));
  };

  const prepareEnvironment = async (ready: LocalStack): Promise<void> => {
    const hosts = PROGRAMS.map((program) => {
      const commands = resources.use(openHostedCommands({ program, cwd: work }));
      return [program, commands] as const;
    });
    const bridge = resources.use(await openCommandBridge(Object.fromEntries(hosts)));
    const secrets = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as {
      ops_token: string;
      member_vault_key: string;
    };
    environment = {
      ...inheritedEnvironment(),
      PATH: `${dirname(process.execPath)}:${inheritedEnvironment()['PATH'] ?? ''}`,
      DATA_DIR: folder,
      MEMBER_VAULT_KEY: `${secrets.member_vault_key},${SECOND_VAULT_KEY}`,
      COMMAND_BRIDGE_PORT: String(bridge.port),
      COLLECT_VIA: played.origin,
      EGRESS_ALLOW_LOOPBACK: 'true',
      API: ready.api_url,
      KEY: ready.api_key,
      WS: ready.workspace_id,
      OPS: ready.ops_url,
      OPS_TOKEN: secrets.ops_token,
    };
    const { stdout } = await shell(String.raw`
      call() { curl -s -X "$1" -H "authorization: Bearer $KEY" -H 'content-type: application/json' ${'$'}{3:+-d "$3"} "$API/v1/$2"; }
      at() { node -pe "JSON.parse(fs.readFileSync(0)).data$1"; }
      TRACKED=$(call GET "workspaces/$WS/tracked-brands?limit=1")
      BRAND=$(echo "$TRACKED" | at '[0].brand.id')
      ALERT=$(call POST "workspaces/$WS/alerts" "{\"name\":\"Examples\",\"trigger\":\"page_changes\",\"brand_ids\":[\"$BRAND\"],\"webhook_url\":\"https://hooks.shop.example/ads\"}" | at .id)
      DOMAIN=$(echo "$TRACKED" | at '[0].brand.domain')
      echo "{\"type\":\"social_page.link\",\"brand_domain\":\"$DOMAIN\",\"page_id\":\"400000000000099\",\"page_name\":null,\"observed_at\":\"$(date -u +%FT%TZ)\",\"role\":\"OFFICIAL\",\"confidence\":1,\"linked\":true}" > link.jsonl
      node services/ingest/cli.ts link.jsonl > /dev/null
      for attempt in {1..100}; do
        DELIVERIES=$(call GET "workspaces/$WS/alert-deliveries?alert_id=$ALERT")
        if [ "$(echo "$DELIVERIES" | at .length)" != 0 ]; then break; fi
        sleep 0.2
      done
      DELIVERY=$(echo "$DELIVERIES" | at '[0].id')
      MEMBER=$(node services/ops/cli.ts --json member add "$WS" --name Example --role owner | node -pe 'JSON.parse(fs.readFileSync(0)).member_id')
      printf '{"BRAND":"%s","DELIVERY":"%s","MEMBER":"%s"}' "$BRAND" "$DELIVERY" "$MEMBER"
    `);
    Object.assign(environment, JSON.parse(stdout) as Record<string, string>);
  };

  beforeAll(async () => {
    played = resources.use(await openPlayedSites());
    played.sites.set(SITE.domain, (path) => answerSite(SITE, { path }) ?? undefined);
    folder = await mkdtemp(join(tmpdir(), 'documents-stack-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    // As root, PostgreSQL runs as another user, who has to pass through.
    await chmod(folder, 0o755);
    stack = new StackProcess(folder, SMALL_DEMO);
    resources.defer(async () => {
      if (!stack.hasEnded) await stack.end('SIGTERM');
    });
    demo = await stack.waitUntilReady();
    await createWorkingCopy();
    await prepareEnvironment(demo);
  }, CASE_LIMIT_MS * 2);

  afterAll(() => resources.disposeAsync());

  test('run against a demo with a key of a customer, for pages of any origin, whose webhooks are signed', async () => {
    expect(demo.api_key).toMatch(/^svc_live_/);
    const headers = { authorization: `Bearer ${demo.api_key}`, origin: 'https://page.example' };
    const reply = await fetch(`${demo.api_url}/v1/me`, { headers });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const [, receiver = ''] = /Webhooks +(http\S+)/.exec(stack.output) ?? [];
    const { deliveries } = (await (await fetch(`${receiver}/deliveries`)).json()) as { deliveries: object[] };
    expect(deliveries.at(-1)).toMatchObject({ fault: null, payload: { kind: 'test' } });
  });

  test.for(examples.filter((example) => !isEmpty(scriptOf(example))))('$path:$line runs', async (example) => {
    const outcome = await shell(scriptOf(example)).then(
      () => null,
      (error: Error & { readonly stdout?: string; readonly stderr?: string }) =>
        `${error.message.slice(-2_000)}\n${error.stdout?.slice(-2_000)}\n${stack.output.slice(-1_000)}`,
    );
    expect(outcome).toBeNull();
  });

  test.for(guidePrograms)('$path:$line runs in Node.js', async ({ line, lines }) => {
    const client = JSON.stringify(join(PROJECT, 'contracts/client/client.ts'));
    const program = lines.join('\n').replaceAll("'ad-intelligence/client'", client);
    await writeFile(join(work, `example-${line}.ts`), program);
    const outcome = await shell(`node example-${line}.ts`).then(
      () => null,
      ({ message }: Error) => message.slice(-2_000),
    );
    expect(outcome).toBeNull();
  });

  // Each ending of a stack costs the start of another one, so this test is here.
  test('the stack stops in order on Ctrl-C within ten seconds and leaves no process running', async () => {
    const processes = stack.processes();
    expect(processes.length).toBeGreaterThan(6);
    const { code, ms } = await stack.end('SIGINT');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_LIMIT_MS);
    await until('all are gone', LEAVE_LIMIT_MS, () => allGone(processes));
  });
});
