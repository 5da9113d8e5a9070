import { z } from 'zod';
import { brandIdOf } from '#domain/ids.ts';
import { readJsonFile, writeJsonFile } from '../../os/json-file.ts';
import { callApi, type DemoWorkspace } from '../workspace.ts';

const Connection = z.object({
  workspace_id: z.string(),
  webhook_secret: z.string(),
  /** `null` until the rules post to it. */
  webhook_url: z.string().nullable(),
  alert_ids: z.array(z.string()),
});
type Connection = z.infer<typeof Connection>;

const RULES = [
  { name: 'Launches', trigger: 'new_ads' },
  { name: 'Activity', trigger: 'activity' },
] as const;

const Secret = z.object({ data: z.object({ webhook_secret: z.string() }) });
const Rule = z.object({ data: z.object({ id: z.string() }) });
const Rules = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });

/** Asks for a signing secret with the first call, which alone shows it, and stores it before a rule signs with it. */
export const readSigningSecret = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  file: string,
): Promise<string> => {
  const { workspace_id } = workspace;
  const stored = await readJsonFile(file, Connection);
  if (stored?.workspace_id === workspace_id) return stored.webhook_secret;
  const reply = await callApi(apiUrl, workspace, 'POST', 'alerts/webhook-secret', {});
  const { webhook_secret } = Secret.parse(reply).data;
  const connection: Connection = { workspace_id, webhook_secret, webhook_url: null, alert_ids: [] };
  await writeJsonFile(file, connection);
  return webhook_secret;
};

/**
 * The first call creates the rules and sends a test; later calls only change the address, so a deleted rule stays
 * deleted. The next start repeats a killed call.
 */
export const connectReceiver = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  webhookUrl: string,
  webhook_secret: string,
  file: string,
): Promise<void> => {
  const { workspace_id } = workspace;
  const stored = await readJsonFile(file, Connection);
  const connection = stored?.workspace_id === workspace_id ? stored : null;
  if (connection?.webhook_url === webhookUrl) return;
  const isFirst = (connection?.webhook_url ?? null) === null;
  const alert_ids = isFirst
    ? await createRules(apiUrl, workspace, domains, webhookUrl)
    : await changeRules(apiUrl, workspace, connection?.alert_ids ?? [], webhookUrl);
  const connected: Connection = { workspace_id, webhook_secret, webhook_url: webhookUrl, alert_ids };
  await writeJsonFile(file, connected);
  const [first] = alert_ids;
  if (isFirst && first !== undefined) await callApi(apiUrl, workspace, 'POST', `alerts/${first}/test`, {});
};

const createRules = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  webhook_url: string,
): Promise<string[]> => {
  const existing = Rules.parse(await callApi(apiUrl, workspace, 'GET', 'alerts?limit=100'));
  const ids: string[] = [];
  for (const { name, trigger } of RULES) {
    const found = existing.data.find((rule) => rule.name === name);
    const body = { name, trigger, email: true, webhook_url, brand_ids: domains.map(brandIdOf) };
    const { data } = Rule.parse(
      found === undefined
        ? await callApi(apiUrl, workspace, 'POST', 'alerts', body)
        : await callApi(apiUrl, workspace, 'PATCH', `alerts/${found.id}`, { webhook_url }),
    );
    ids.push(data.id);
  }
  return ids;
};

const changeRules = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  alertIds: readonly string[],
  webhook_url: string,
): Promise<string[]> => {
  const existing = Rules.parse(await callApi(apiUrl, workspace, 'GET', 'alerts?limit=100'));
  const ids = existing.data.map(({ id }) => id).filter((id) => alertIds.includes(id));
  for (const id of ids) await callApi(apiUrl, workspace, 'PATCH', `alerts/${id}`, { webhook_url });
  return ids;
};
