import type { LocalStack } from '#platform/settings.ts';
import { brandSlugsOf } from '#domain/corpus/brand-slug.ts';

/** Three `curl` commands that work when pasted, each with data of the demo. */
export const curlLines = (stack: LocalStack, brandDomain: string | null): readonly string[] => {
  const ask = (path: string): string =>
    `curl -s -H 'authorization: Bearer ${stack.api_key}' '${stack.api_url}${path}'`;
  return [
    ask('/v1/brands?limit=5'),
    ask(`/v1/workspaces/${stack.workspace_id}/radar?days=7&limit=5`),
    ask(brandDomain === null ? '/v1/me' : `/v1/brands/${brandSlugsOf(brandDomain)[0]}/ads?limit=5`),
  ];
};

export const summaryOf = (
  stack: LocalStack & {
    /** Signs the demo owner in; `null` when there is none. */
    readonly invitation: string | null;
    /** Shows the webhooks of the demo; `null` without a demo. */
    readonly receiverUrl: string | null;
  },
  secretsFile: string,
  /** Says how e-mails are sent. */
  mail: string,
  /** Says what the collector does. */
  collector: string,
  /** Say what changes in the demo, and when; none without a demo. */
  demo: readonly string[],
  brandDomain: string | null,
): string =>
  [
    '',
    `  API          ${stack.api_url}   documentation: ${stack.api_url}/docs`,
    `  Operators    ${stack.ops_url}   token: ops_token in ${secretsFile}`,
    ...(stack.mcp_url === undefined
      ? []
      : [`  Assistants   ${stack.mcp_url}/mcp   (MCP; services/mcp/README.md)`]),
    `  Intake       ${stack.intake_url}   key for a collector: npm run ops -- collector issue NAME`,
    `  Collector    ${collector}`,
    `  E-mail       ${mail}`,
    ...(stack.receiverUrl === null
      ? []
      : [
          `  Webhooks     ${stack.receiverUrl}   shows the alerts of the demo, with their signatures checked`,
        ]),
    `  Event store  ${stack.event_store_url}`,
    `  PostgreSQL   ${stack.database_url}`,
    `  NATS         ${stack.nats_url}`,
    '               for this machine only: all listen on loopback, with passwords made at the first start',
    '',
    `  Workspace    ${stack.workspace_id}`,
    `  API key      ${stack.api_key}`,
    ...(stack.invitation === null
      ? []
      : [
          `  Sign-in      ${stack.invitation}`,
          '               once, within a day; then the pages of tracked brands, and assistants',
        ]),
    '',
    ...(brandDomain === null ? [] : ['  The demo corpus is synthetic: no brand, page or ad in it exists.']),
    ...demo.map((sentence) => `  ${sentence}`),
    ...(demo.length === 0 ? [] : ['']),
    ...curlLines(stack, brandDomain),
    '',
    'Ctrl-C stops everything in order; "npm start" goes on from here; "npm run reset" clears.',
  ].join('\n');
