import type { Command } from 'commander';
import { z } from 'zod';
import { type ApiClient, ApiError, createClient } from '#contracts/client/client.ts';
import { findLocalStack, inheritedEnvironment, readSettings } from '#platform/settings.ts';

const Settings = z.object({
  API_BASE_URL: z.url(),
  API_KEY: z.string(),
  /** Signing secret of the workspace, for `listen`. */
  WEBHOOK_SECRET: z.string().startsWith('whsec_').optional(),
});

export type Session = {
  readonly client: ApiClient;
  readonly webhookSecret: string | undefined;
  /** Throws `ApiError`. */
  workspaceId(): Promise<string>;
};

/** An environment that names another API gets nothing: the key of the local stack stays here. */
const environment = (): Readonly<Record<string, string | undefined>> => {
  const own = inheritedEnvironment();
  const local = findLocalStack();
  const isLocal = local !== null && (own['API_BASE_URL'] || local.api_url) === local.api_url;
  return isLocal ? { ...own, API_BASE_URL: local.api_url, API_KEY: own['API_KEY'] || local.api_key } : own;
};

/** Throws `ApiError` for a refusal. */
export const replyOf = <Reply>({
  data,
  error,
  response,
}: {
  data?: Reply;
  error?: unknown;
  response: Response;
}): Reply => {
  if (data === undefined) throw new ApiError(response, error);
  return data;
};

/** `null` for errors of another origin. */
const describeError = (error: unknown): string | null => {
  if (error instanceof ApiError) {
    const details = error.body?.details?.map(({ path, message }) => `\n  ${path}: ${message}`) ?? [];
    return `${error.message}${error.body ? ` (request ${error.body.request_id})` : ''}${details.join('')}`;
  }
  if (error instanceof TypeError && error.message === 'fetch failed')
    return 'The API does not respond. Check API_BASE_URL.';
  return error instanceof DOMException && error.name === 'TimeoutError'
    ? 'The API did not reply in time.'
    : null;
};

/** Action of a command. A refusal, or a fault that `work` returns, becomes one text and exit code 1. */
export const runWithSession = async (
  command: Command,
  work: (session: Session) => Promise<string | null>,
): Promise<void> => {
  const settings = readSettings(Settings, environment());
  const client = createClient({ baseUrl: settings.API_BASE_URL, apiKey: settings.API_KEY });
  const workspaceId = async (): Promise<string> => replyOf(await client.GET('/v1/me')).data.workspace_id;
  let fault: string | null;
  try {
    fault = await work({ client, webhookSecret: settings.WEBHOOK_SECRET, workspaceId });
  } catch (error) {
    fault = describeError(error);
    if (fault === null) throw error;
  }
  if (fault !== null) command.error(fault);
};
