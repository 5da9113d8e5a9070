import { scopesOf, TAGS } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';

export const endpointTable = (): string => {
  const rows = Object.keys(TAGS).flatMap((section) =>
    ENDPOINTS.filter(({ tag }) => tag === section).map(
      (one) => `| \`${one.method} ${one.path}\` | \`${scopesOf(one).join('` or `')}\` | ${one.summary} |`,
    ),
  );
  return [
    '# Endpoints',
    '',
    `${rows.length} endpoints, each with the scope that a key needs. Written by \`npm run openapi\`; \`/docs\` has parameters and replies.`,
    '',
    '| endpoint | scope | what it does |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};
