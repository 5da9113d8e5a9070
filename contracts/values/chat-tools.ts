/** `address` is for people. Mattermost and Rocket.Chat run on their own hosts, so paths identify them. */
const TOOLS = {
  slack: {
    name: 'Slack',
    address: 'hooks.slack.com/services/…',
    pattern: /^hooks\.slack(-gov)?\.com\/services(\/\w[\w-]*){3}\/?$/,
  },
  discord: {
    name: 'Discord',
    address: 'discord.com/api/webhooks/…',
    pattern: /^((ptb|canary)\.)?discord(app)?\.com\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+(\/slack)?\/?$/,
  },
  teams: {
    name: 'Microsoft Teams (Workflows)',
    address: '….logic.azure.com/workflows/… or ….api.powerplatform.com/…/workflows/…',
    pattern:
      /^[\w.-]+\.(logic\.azure\.(com|us)|api\.powerplatform\.(com|us))\/([\w-]+\/)*workflows\/[\w-]+\/triggers\/[\w-]+\/paths\/invoke\/?$/,
  },
  googleChat: {
    name: 'Google Chat',
    address: 'chat.googleapis.com/v1/spaces/…/messages?…',
    pattern: /^chat\.googleapis\.com\/v1\/spaces\/[\w-]+\/messages\/?$/,
  },
  mattermost: {
    name: 'Mattermost',
    address: '…/hooks/ and 26 characters',
    pattern: /\/hooks\/[a-z0-9]{26}\/?$/,
  },
  rocketChat: {
    name: 'Rocket.Chat',
    address: '…/hooks/ and two ids',
    pattern: /\/hooks\/[A-Za-z0-9]{17,24}\/[\w-]{40,}\/?$/,
  },
} as const;

export type ChatTool = keyof typeof TOOLS;
export const CHAT_TOOLS = Object.keys(TOOLS) as readonly ChatTool[];

export const CHAT_TOOLS_NAMED = Object.values(TOOLS)
  .map(({ name, address }) => `${name} (${address})`)
  .join(', ');

export const chatToolOf = ({ hostname, pathname }: URL): ChatTool | null =>
  CHAT_TOOLS.find((tool) => TOOLS[tool].pattern.test(hostname + pathname)) ?? null;
