import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * `npm run sbom`: prints the bill of materials of the locked packages that processes use, in CycloneDX. It follows the
 * dependencies of `package.json`, because `npm sbom --omit=dev` also leaves out packages that tests and processes share.
 */

const ROOT = new URL('../../', import.meta.url);
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

type Component = { readonly 'bom-ref': string; readonly name: string };
type Bom = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

const { dependencies: direct } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: OUTPUT_MAX_BYTES,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const bom = JSON.parse(text) as Bom;
const root = bom.metadata.component['bom-ref'];
const needs = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
const names = new Map(bom.components.map((one) => [one['bom-ref'], one.name]));
const ofRoot = (needs.get(root) ?? []).filter((ref) => direct[names.get(ref) ?? ''] !== undefined);

const used = new Set(ofRoot);
// A set that grows while it is walked visits its new members too.
for (const ref of used) for (const next of needs.get(ref) ?? []) used.add(next);

const components = bom.components.filter((one) => used.has(one['bom-ref']));
const dependencies = bom.dependencies.flatMap((one) => {
  if (one.ref === root) return [{ ...one, dependsOn: ofRoot }];
  return used.has(one.ref) ? [one] : [];
});
console.log(JSON.stringify({ ...bom, components, dependencies }, null, 2));
