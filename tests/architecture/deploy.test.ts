import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { AlertsSettings } from '#services/alerts/settings.ts';
import { ApiSettings } from '#services/api/settings.ts';
import { CollectorSettings } from '#services/collector/settings.ts';
import { DeliverySettings } from '#services/delivery/settings.ts';
import { IngestSettings } from '#services/ingest/settings.ts';
import { McpSettings } from '#services/mcp/settings.ts';
import { IntakeSettings } from '#services/intake/settings.ts';
import { MediaSettings } from '#services/media/settings.ts';
import { OpsSettings } from '#services/ops/settings.ts';
import { ProjectorSettings } from '#services/projector/settings.ts';
import { WorkerSettings } from '#services/worker/settings.ts';

/** Checks files in `deploy/` that no test can run. */
const ROOT = join(import.meta.dirname, '../..');
const PROCESSES: Readonly<Record<string, z.ZodObject>> = {
  alerts: AlertsSettings,
  api: ApiSettings,
  collector: CollectorSettings,
  delivery: DeliverySettings,
  ingest: IngestSettings,
  mcp: McpSettings,
  media: MediaSettings,
  intake: IntakeSettings,
  ops: OpsSettings,
  projector: ProjectorSettings,
  worker: WorkerSettings,
};
const NAMES = Object.keys(PROCESSES);
/** Containers share sources of settings, so one may get settings of another process. */
const ALL_SETTINGS = new Set(Object.values(PROCESSES).flatMap(({ shape }) => Object.keys(shape)));

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, never>>;
};
const FILES = globSync('deploy/kubernetes/*.yaml', { cwd: ROOT }).toSorted();
const manifests = FILES.filter((file) => !file.endsWith('kustomization.yaml')).flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    expect(document.errors, file).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const ofKind = (kind: string): readonly Manifest[] => manifests.filter((one) => one.kind === kind);

const MODULES: Readonly<Record<string, string>> = {
  Namespace: 'core/v1',
  ConfigMap: 'core/v1',
  Secret: 'core/v1',
  Service: 'core/v1',
  PersistentVolumeClaim: 'core/v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking/v1',
};

describe('Kubernetes manifests', () => {
  test('match the types of the Kubernetes 1.30 API', () => {
    const folder = mkdtempSync(join(ROOT, 'node_modules/.manifests-'));
    try {
      const lines = manifests.map((manifest, index) => {
        const module = MODULES[manifest.kind];
        expect(module, manifest.kind).toBeDefined();
        const type = `import('kubernetes-types/${module}').${manifest.kind}`;
        return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
      });
      writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
      const options =
        '--noEmit --strict --ignoreConfig --skipLibCheck --module esnext --moduleResolution bundler'.split(
          ' ',
        );
      const output = (() => {
        try {
          return execFileSync(
            join(ROOT, 'node_modules/.bin/tsc'),
            [...options, join(folder, 'manifests.ts')],
            {
              encoding: 'utf8',
            },
          );
        } catch (error) {
          return (error as { stdout: string }).stdout;
        }
      })();
      expect(output).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('are all listed in the kustomization, which lists no missing file', () => {
    const { resources } = parse(read('deploy/kubernetes/kustomization.yaml')) as { resources: string[] };
    const existing = FILES.map((file) => file.split('/').at(-1) ?? '');
    const excluded = ['kustomization.yaml', 'secret.example.yaml'];
    expect(resources.toSorted()).toEqual(existing.filter((file) => !excluded.includes(file)));
  });

  test.each(NAMES)('run %s with its command, probes, security context and settings', (name) => {
    type Container = Readonly<Record<string, never>> & {
      readonly command: readonly string[];
      readonly envFrom: readonly { secretRef?: { name: string }; configMapRef?: { name: string } }[];
      readonly env?: readonly { name: string }[];
      readonly resources: { requests: object; limits: object };
    };
    const deployment = ofKind('Deployment').find((one) => one.metadata.name === name);
    const spec = deployment?.spec as unknown as {
      replicas?: number;
      template: {
        spec: { containers: Container[]; securityContext: object; terminationGracePeriodSeconds: number };
      };
    };
    const { containers, securityContext, terminationGracePeriodSeconds } = spec.template.spec;
    const [container] = containers;
    expect(container?.command).toEqual(['node', `services/${name}/main.ts`]);
    expect(existsSync(join(ROOT, `services/${name}/main.ts`))).toBe(true);
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz' } },
      livenessProbe: { httpGet: { path: '/healthz' } },
      // Readiness of ops is that of the whole service, so it cannot be the probe of one container.
      readinessProbe: { httpGet: { path: name === 'ops' ? '/healthz' : '/readyz' } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    });
    expect(securityContext).toMatchObject({ runAsNonRoot: true });
    // A shutdown takes up to eight seconds.
    expect(terminationGracePeriodSeconds).toBeGreaterThan(8);
    expect(Object.keys(container?.resources.requests ?? {}).toSorted()).toEqual(['cpu', 'memory']);
    expect(container?.resources.limits).toHaveProperty('memory');
    const budget = ofKind('PodDisruptionBudget').find((one) => one.metadata.name === name);
    expect(budget?.spec).toMatchObject({ maxUnavailable: 1 });

    const provided = new Set((container?.env ?? []).map((one) => one.name));
    for (const { secretRef, configMapRef } of container?.envFrom ?? []) {
      const source = manifests.find(
        ({ kind, metadata }) =>
          (kind === 'Secret' && metadata.name === secretRef?.name) ||
          (kind === 'ConfigMap' && metadata.name === configMapRef?.name),
      );
      for (const key of Object.keys({ ...source?.data, ...source?.stringData })) provided.add(key);
    }
    for (const setting of provided) expect(ALL_SETTINGS, setting).toContain(setting);
    for (const [setting, schema] of Object.entries(PROCESSES[name]?.shape ?? {})) {
      if (!(schema as z.ZodType).safeParse(undefined).success) expect(provided, setting).toContain(setting);
    }
  });

  test('have at least two replicas of each process that elects a leader', () => {
    for (const name of ['ingest', 'projector', 'alerts', 'delivery', 'worker']) {
      const deployment = ofKind('Deployment').find((one) => one.metadata.name === name);
      expect((deployment?.spec as { replicas?: number } | undefined)?.replicas, name).toBeGreaterThan(1);
    }
  });
});

describe('compose.yaml', () => {
  type Service = { command?: string[]; environment?: Record<string, string>; restart?: string };
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
  };

  test.each(NAMES)('runs %s with its required settings and no unknown ones', (name) => {
    const { command, environment = {} } = services[name] ?? {};
    expect(command).toEqual(['node', `services/${name}/main.ts`]);
    for (const setting of Object.keys(environment)) expect(ALL_SETTINGS, setting).toContain(setting);
    for (const [setting, schema] of Object.entries(PROCESSES[name]?.shape ?? {})) {
      if ((schema as z.ZodType).safeParse(undefined).success) continue;
      expect(Object.keys(environment), setting).toContain(setting);
    }
  });

  test('has all three servers', () => {
    expect(Object.keys(services)).toEqual(expect.arrayContaining(['event-store', 'postgres', 'nats']));
  });
});

describe('monitored metrics', () => {
  const metricNames = new Set(
    ['services/platform/telemetry/metrics.ts', ...globSync('services/ops/**/*.ts', { cwd: ROOT })].flatMap(
      (file) => [...read(file).matchAll(/name: '(adintel_[a-z_]+)'/g)].map(([, name]) => name ?? ''),
    ),
  );
  const namesIn = (text: string): readonly string[] => [
    ...new Set(
      [...text.matchAll(/adintel_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
    ),
  ];

  test('of the alert rules exist in code', () => {
    const names = namesIn(read('deploy/prometheus/alerts.yml'));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(metricNames, name).toContain(name);
  });

  test('of the dashboard exist in code, and panel ids are unique', () => {
    const text = read('deploy/grafana/dashboards/service.json');
    const names = namesIn(text);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(metricNames, name).toContain(name);
    const { panels } = JSON.parse(text) as { panels: { id: number }[] };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

test('the image copies existing paths and runs as an unprivileged user', () => {
  const lines = read('deploy/Dockerfile').split('\n');
  const copied = lines.flatMap((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
  expect(copied.length).toBeGreaterThan(4);
  for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
  const ignored = read('deploy/Dockerfile.dockerignore').split('\n');
  for (const path of copied) expect(ignored, path).toContain(`!${path}`);
  expect(lines).toContain('USER 1000:1000');
  // The native decoder of `sharp` is optional, because it differs by platform.
  const installs = lines.filter((line) => line.includes('npm ci'));
  expect(installs).toHaveLength(2);
  for (const install of installs) expect(install).not.toContain('--omit=optional');
  expect(lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
});
