import { Argument, Command, Option } from 'commander';
import { isJson } from '#platform/command-line.ts';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import { registerListen } from './listen.ts';
import { type Field, OPERATIONS, type Operation, valueOf } from './operations.ts';
import { printReply, type Reply } from './output.ts';
import { replyOf, runWithSession, type Session } from './session.ts';

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
