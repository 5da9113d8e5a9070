import { costOfCall } from '../tools/register-tools.ts';

/** The guide costs no request. */
export const costOfResource = (uri: unknown): number => {
  if (typeof uri !== 'string') return 0;
  if (uri.startsWith('adintel://ads/')) return 2;
  return uri.startsWith('adintel://brands/') || uri.startsWith('adintel://briefs/') ? 1 : 0;
};

/** One request per endpoint that the message reads; lists of tools and prompts read none. */
export const costOfMessage = ({
  method,
  params,
}: {
  readonly method?: unknown;
  readonly params?: unknown;
}): number => {
  const { name, arguments: args, uri } = (params ?? {}) as Record<string, unknown>;
  if (method === 'tools/call') return costOfCall(name, args);
  if (method === 'resources/read') return costOfResource(uri);
  return method === 'resources/list' || method === 'completion/complete' ? 1 : 0;
};
