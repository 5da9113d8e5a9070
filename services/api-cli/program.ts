import { Argument, Command, Option } from 'commander';
import { isJson, type Fields, printRecord, printTable, onOneLine } from '#platform/command-line.ts';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  readWebhook,
  type WebhookPayload,
  WebhookRefused,
  type ApiClient,
  ApiError,
  createClient,
} from '#contracts/client/client.ts';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { z } from 'zod';
import { findLocalStack, inheritedEnvironment, readSettings } from '#platform/settings.ts';

const Settings = z.object({
  API_BASE_URL: z.url(),
  API_KEY: z.string(),
  /** Signing secret of the workspace, for `listen`. */
  WEBHOOK_SECRET: z.string().startsWith('whsec_').optional(),
});

type Session = {
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
const replyOf = <Data>({
  data,
  error,
  response,
}: {
  data?: Data;
  error?: unknown;
  response: Response;
}): Data => {
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
const runWithSession = async (
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

/** Name of the rules that exist while `listen` runs. */
const RULE_NAME = 'listen on this machine';
/** The most that a rule takes. */
const BRANDS_MAX = 500;
/** A payload of 100 items with long titles is far smaller. */
const BODY_MAX_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

const TRIGGERS = ['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity'] as const;

type Options = {
  readonly trigger: readonly (typeof TRIGGERS)[number][];
  readonly brand?: string[];
  readonly port: string;
  readonly to?: string;
  readonly rotateSecret?: true;
};

const trackedBrands = async ({ client }: Session, ws: string): Promise<string[]> => {
  const ids: string[] = [];
  const params = { path: { ws }, query: { limit: 100 } };
  for await (const { brand } of client.items('/v1/workspaces/{ws}/tracked-brands', { params })) {
    ids.push(brand.id);
    if (ids.length === BRANDS_MAX) break;
  }
  return ids;
};

const printAlert = (command: Command, payload: WebhookPayload): void => {
  if (isJson(command)) return console.log(JSON.stringify(payload));
  const { alert, kind, items, items_total, created_at } = payload;
  console.log(
    `${created_at}  ${kind}  ${alert.trigger}  ${items_total} ${items_total === 1 ? 'item' : 'items'}, signature verified`,
  );
  for (const { observed_at, title } of items) console.log(`  ${observed_at}  ${onOneLine(title)}`);
};

/** Receives alerts until `signal` aborts, through one rule for each trigger. Deletes the rules at its end. */
const listen = async (
  session: Session,
  options: Options,
  signal: AbortSignal,
  command: Command,
): Promise<string | null> => {
  const { client } = session;
  const ws = await session.workspaceId();
  const brandIds = options.brand ?? (await trackedBrands(session, ws));
  if (brandIds.length === 0)
    return 'The workspace tracks no brand. Track one first: trackBrand --brand-id ID';
  const params = { path: { ws } };
  // The public workspace has a public secret.
  let secret =
    session.webhookSecret ?? (ws === TEST_WORLD.workspace_id ? TEST_WORLD.webhook_secret : undefined);
  if (options.rotateSecret) {
    const issued = await client.POST('/v1/workspaces/{ws}/alerts/webhook-secret', { params, body: {} });
    secret = replyOf(issued).data.webhook_secret;
  }
  const receive = async (request: IncomingMessage): Promise<number> => {
    // A delivery that comes before the secret is known is sent again.
    if (secret === undefined) return 503;
    if (!(Number(request.headers['content-length']) <= BODY_MAX_BYTES)) return 413;
    try {
      const body = await buffer(request);
      printAlert(command, await readWebhook({ headers: request.headers, body }, secret));
      return 204;
    } catch (error) {
      console.error(
        `A request was refused: ${error instanceof WebhookRefused ? error.message : String(error)}`,
      );
      return 401;
    }
  };
  const server = createServer((request, response) => {
    void receive(request).then((status) => response.writeHead(status).end());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  await using resources = new AsyncDisposableStack();
  server.listen(Number(options.port), '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = options.to ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const trigger of options.trigger) {
    const body = { name: RULE_NAME, trigger, brand_ids: brandIds, webhook_url: url };
    const { data } = replyOf(await client.POST('/v1/workspaces/{ws}/alerts', { params, body }));
    const path = { ws, alertId: data.id };
    console.error(`Rule ${data.id} fires on ${trigger}. A sample: trigger ${data.id}`);
    resources.defer(async () => {
      await client.DELETE('/v1/workspaces/{ws}/alerts/{alertId}', { params: { path }, body: {} });
    });
    secret ??= data.webhook_secret ?? undefined;
    if (secret === undefined)
      return 'The workspace has a signing secret already. Set WEBHOOK_SECRET to it, or issue another with --rotate-secret, which other receivers need then, too.';
  }
  console.error(`Listening at ${url}. Ctrl-C ends it.`);
  if (!signal.aborted) await once(signal, 'abort');
  return null;
};

const registerListen = (program: Command): void => {
  const command = program
    .command('listen')
    .summary('print alerts of the workspace as they come')
    .description(
      'Receives alerts on this machine through rules that exist while it runs, checks their signatures and prints them. WEBHOOK_SECRET is the signing secret of the workspace; not needed when it has none yet.',
    )
    .addOption(new Option('--trigger <trigger...>', 'what fires').choices(TRIGGERS).default(['new_ads']))
    .option('--brand <id...>', 'tracked brands; all by default')
    .option('--port <port>', 'port on the loopback address', '0')
    .option('--to <url>', 'public https address that leads to the port; the local stack needs none')
    .option('--rotate-secret', 'issue a new signing secret, which other receivers need then, too');
  command.action((options: Options) => {
    const ending = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
    return runWithSession(command, (session) => listen(session, options, ending.signal, command));
  });
};

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
};
type Documented = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Partial<Parameter>[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
};
type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Query parameter or property of a body. */
type Field = {
  readonly name: string;
  readonly place: 'query' | 'body';
  /** Types of JSON; several where the document allows several. */
  readonly types: ReadonlySet<string>;
  /** `null` when any text may be sent. */
  readonly choices: readonly string[] | null;
  readonly description: string;
};

type Operation = Pick<Documented, 'operationId' | 'summary' | 'description'> & {
  readonly method: string;
  readonly path: string;
  /** Parameters of the path in order, without `ws`. */
  readonly pathNames: readonly string[];
  readonly isPaged: boolean;
  readonly fields: readonly Field[];
};

const FILE = new URL('../../contracts/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(FILE, 'utf8')) as ApiDocument;

const variantsOf = (schema: Schema): readonly Schema[] => {
  const named = schema.$ref && components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
  const { anyOf, oneOf, ...plain } = named || schema;
  return (anyOf ?? oneOf)?.flatMap(variantsOf) ?? [plain];
};

/** Several schemas where a body has variants. */
const fieldOf = (name: string, place: Field['place'], given: readonly Schema[]): Field => {
  const variants = given.flatMap(variantsOf);
  const values = variants.map((one) => one.enum ?? ('const' in one ? [one.const] : null));
  return {
    name,
    place,
    types: new Set(variants.flatMap(({ type = 'string' }) => type)),
    choices: values.every((one, index) => one !== null || variants[index]?.type === 'null')
      ? [...new Set(values.flatMap((one) => one ?? ['null']).map(String))]
      : null,
    description: given.find(({ description }) => description !== undefined)?.description ?? '',
  };
};

const bodyFields = (schema: Schema): readonly Field[] => {
  const properties = variantsOf(schema).flatMap((variant) => Object.entries(variant.properties ?? {}));
  const byName = Map.groupBy(properties, ([name]) => name);
  return [...byName].map(([name, given]) =>
    fieldOf(
      name,
      'body',
      given.map(([, one]) => one),
    ),
  );
};

const operationOf = (method: string, path: string, documented: Documented): Operation => {
  const query = documented.parameters
    .filter((one) => one.in === 'query')
    .map(({ name = '', schema, description = '' }) => fieldOf(name, 'query', [{ ...schema, description }]));
  const body = documented.requestBody?.content['application/json'].schema;
  return {
    ...documented,
    method,
    path,
    pathNames: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== 'ws'),
    isPaged: query.some(({ name }) => name === 'cursor'),
    fields: [...query, ...(body ? bodyFields(body) : [])],
  };
};

/** In the order of the document. */
const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => operationOf(method, path, one)),
);

/** Value of a field as its text on the command line. Throws `SyntaxError` for a text that is not JSON where it must be. */
const valueOf = ({ types, place }: Field, text: string): unknown => {
  if (types.has('array') && !text.startsWith('[')) return text.split(',');
  if (place === 'query') return text;
  if (types.has('null') && text === 'null') return null;
  return types.has('string') ? text : (JSON.parse(text) as unknown);
};

type Reply = { readonly data: unknown; readonly meta: { readonly as_of: string; readonly cursor?: string } };

const CELL_MAX = 60;
/** Without a terminal every column is printed. */
const widthOfTerminal = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);

type Cell = Fields[string];
type ListFields = (list: readonly unknown[], name: string) => Fields;

const countOf = (list: readonly unknown[]): string => `${list.length} item${list.length === 1 ? '' : 's'}`;
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Nested objects become `outer.inner`. `ofRecords`: fields of a list of objects. */
const fieldsOf = (value: unknown, ofRecords: ListFields, name = ''): Fields => {
  if (!isObject(value)) return { [name]: (value ?? null) as Cell };
  if (Array.isArray(value))
    return value.some(isObject) ? ofRecords(value, name) : { [name]: value.map(String) };
  const parts = Object.entries(value).map(([inner, one]) =>
    fieldsOf(one, ofRecords, name === '' ? inner : `${name}.${inner}`),
  );
  return Object.assign({}, ...parts) as Fields;
};

const numberOfItems: ListFields = (list, name) => ({ [name]: countOf(list) });

const lineOf = (item: unknown): string =>
  Object.entries(fieldsOf(item, numberOfItems))
    .map(([name, cell]) => `${name}: ${Array.isArray(cell) ? cell.join(' ') : String(cell ?? '-')}`)
    .join(', ');
const lineForEach: ListFields = (list, name) =>
  Object.fromEntries(list.map((item, index) => [`${name}.${index}`, lineOf(item)]));

const shortened = (row: Fields): Fields => {
  const short = (cell: Cell): Cell => {
    if (String(cell ?? '').length <= CELL_MAX) return cell;
    return Array.isArray(cell) ? countOf(cell) : `${String(cell).slice(0, CELL_MAX - 1)}…`;
  };
  return Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, short(cell)]));
};

/** Columns in order. Left out are those without a value, and on a terminal those that no longer fit. */
const columnsOf = (rows: readonly Fields[]): readonly string[] => {
  const width = widthOfTerminal();
  let used = 0;
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => {
    const lengths = rows.map((row) => String(row[name] ?? '').length);
    const wide = Math.max(name.length, ...lengths);
    if (lengths.every((one) => one === 0) || (used > 0 && used + wide > width)) return false;
    used += wide + 2;
    return true;
  });
};

/** With `--json` a line of JSON, otherwise a table or a record, with its `as_of` on standard error. */
export const printReply = (command: Command, reply: Reply): void => {
  if (isJson(command)) return console.log(JSON.stringify(reply));
  if (Array.isArray(reply.data)) {
    const rows = reply.data.map((one) => shortened(fieldsOf(one, numberOfItems)));
    const { columns } = command.optsWithGlobals<{ columns?: string }>();
    printTable(command, columns?.split(',') ?? columnsOf(rows), rows);
  } else printRecord(command, fieldsOf(reply.data, lineForEach));
  console.error(`as of ${reply.meta.as_of}`);
};

const SHELLS = ['bash', 'zsh'] as const;
type Shell = (typeof SHELLS)[number];

/** zsh runs the function of bash. */
const ZSH_PRELUDE = 'autoload -U +X compinit bashcompinit && compinit && bashcompinit\n';

const flagsOf = (command: Command): string => command.options.map(({ long }) => long).join(' ');

/** Names of commands first, then the flags of a command, and the values of a flag that has a closed list of them. */
const completionScript = (program: Command, shell: Shell): string => {
  const namesOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];
  const cases = program.commands.map((command) => {
    const line = (flag: string, words: string): string =>
      `      ${namesOf(command)
        .map((name) => `${name}:${flag}`)
        .join(' | ')}) words="${words}" ;;`;
    const values = command.options.flatMap(({ long, argChoices }) =>
      argChoices && long ? [line(long, argChoices.join(' '))] : [],
    );
    return [...values, line('*', `${flagsOf(command)} --help`)].join('\n');
  });
  return `${shell === 'zsh' ? ZSH_PRELUDE : ''}_api() {
  local command= word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  if [ -z "$command" ]; then
    words="${flagsOf(program)} --help ${program.commands.flatMap(namesOf).join(' ')}"
  else
    case $command:\${COMP_WORDS[COMP_CWORD-1]} in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _api api`;
};

const optionOf = ({ name, description, choices }: Field): Option => {
  const option = new Option(`--${name.replaceAll('_', '-')} <value>`, description);
  return choices === null ? option : option.choices(choices);
};

type Given = Readonly<Record<string, string | true>>;

/** Throws for a text that is not JSON where the field takes no text. */
const requestOf = (
  { pathNames, fields, method }: Operation,
  words: readonly string[],
  given: Given,
  ws: string,
) => {
  const placed = { query: {} as Record<string, unknown>, body: {} as Record<string, unknown> };
  for (const field of fields) {
    const option = optionOf(field);
    const text = given[option.attributeName()];
    if (typeof text === 'string') placed[field.place][field.name] = valueOf(field, text);
  }
  const path = Object.fromEntries(pathNames.map((name, index) => [name, words[index]]));
  const params = { path: { ws, ...path }, query: placed.query };
  return method === 'get' ? { params } : { params, body: placed.body };
};

/** Calls by operation are not typed, because the document is read at run time. */
type UntypedClient = {
  request(method: string, path: string, options: object): Promise<Parameters<typeof replyOf<Reply>>[0]>;
};

const runOperation = async (
  operation: Operation,
  session: Session,
  command: Command,
): Promise<string | null> => {
  const { method, path } = operation;
  const client = session.client as unknown as UntypedClient;
  const ws = path.includes('{ws}') ? await session.workspaceId() : '';
  const given = command.opts<Given>();
  let options: ReturnType<typeof requestOf>;
  try {
    options = requestOf(operation, command.args, given, ws);
  } catch (error) {
    return `A value is not valid JSON: ${(error as Error).message}`;
  }
  for (;;) {
    const found = await client.request(method, path, options);
    const reply = replyOf(found);
    printReply(command, reply);
    const { cursor } = reply.meta;
    const token = found.response.headers.get('x-next-since-token');
    if (token !== null) console.error(`Changes after this call: --since-token ${token}`);
    if (cursor === undefined) return null;
    if (!given['all']) {
      if (!isJson(command)) console.error(`More pages: --all, or the next one: --cursor ${cursor}`);
      return null;
    }
    options.params.query = { ...options.params.query, cursor };
  }
};

const registerOperation = (program: Command, operation: Operation): Command => {
  const { operationId, summary, description, pathNames, fields, isPaged } = operation;
  const command = program.command(operationId).summary(summary).description(description);
  for (const name of pathNames) command.argument(`<${name}>`);
  for (const field of fields) command.addOption(optionOf(field));
  if (isPaged) command.option('--all', 'all pages from the cursor on; with --json a line for each page');
  return command.action(() =>
    runWithSession(command, (session) => runOperation(operation, session, command)),
  );
};

const ALIASES: Readonly<Record<string, string>> = { getMe: 'whoami', testAlert: 'trigger' };

/** Creates the command line of the API, `npm run api -- …`. It finds the address and the key of a running `npm start`. */
export const createProgram = (): Command => {
  const program = new Command('api')
    .description('call the API: every operation by its id, and the commands at the end of the list')
    .option('--json', 'print replies as lines of JSON')
    .option('--columns <names>', 'columns of a table, with commas between');
  for (const operation of OPERATIONS) {
    const alias = ALIASES[operation.operationId];
    const command = registerOperation(program, operation);
    if (alias !== undefined) command.alias(alias);
  }
  registerListen(program);
  program
    .command('completion')
    .description('print completions for a shell function or alias `api`')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => console.log(completionScript(program, shell)));
  return program;
};
