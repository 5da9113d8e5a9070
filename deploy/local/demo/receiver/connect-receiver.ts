import { z } from 'zod';
import { brandIdOf } from '#domain/ids.ts';
import { readJsonFile, writeJsonFile } from '../../os/json-file.ts';
import { callApi, type DemoWorkspace } from '../workspace.ts';

const Connection = z.object({
  workspace_id: z.string(),
  webhook_url: z.string(),
  alert_ids: z.array(z.string()),
});
type Connection = z.infer<typeof Connection>;

const RULES = [
  { name: 'Launches', trigger: 'new_ads' },
  { name: 'Activity', trigger: 'activity' },
] as const;

const Rule = z.object({ data: z.object({ id: z.string() }) });
const Rules = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });

/**
 * The first call creates the rules and sends a test; later calls only change the address, so a deleted rule stays
 * deleted. The next start repeats a killed call.
 */
export const connectReceiver = async (
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  webhookUrl: string,
  file: string,
): Promise<void> => {
  const { workspace_id } = workspace;
  const stored = await readJsonFile(file, Connection);
  const connection = stored?.workspace_id === workspace_id ? stored : null;
  if (connection?.webhook_url === webhookUrl) return;
  const alert_ids = connection
    ? await changeRules(apiUrl, workspace, connection.alert_ids, webhookUrl)
    : await createRules(apiUrl, workspace, domains, webhookUrl);
  await writeJsonFile(file, { workspace_id, webhook_url: webhookUrl, alert_ids } satisfies Connection);
  const [first] = alert_ids;
  if (!connection && first !== undefined)
    await callApi(apiUrl, workspace, 'POST', `alerts/${first}/test`, {});
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
