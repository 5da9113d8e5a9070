import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Signs what a tool hands to the client between two rounds. */
export const STATE = createRequestStateCodec<{ readonly round: number }>({ key: randomBytes(32) });

const done = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const Name = z.object({ name: z.string() });
const Confirmed = z.object({ ok: z.boolean() });
const Color = z.object({ color: z.string() });
const ask = (message: string, requestedSchema: z.ZodObject) =>
  inputRequired.elicit({ message, requestedSchema });
const sample = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens: 50,
  });

const nameOf = ({ mcpReq }: ServerContext, key: string) =>
  acceptedContent(mcpReq.inputResponses, key, Name)?.name;

const capabilitiesOf = ({ envelope }: ServerContext['mcpReq']): object => {
  const fields = envelope as Readonly<Record<string, object>> | undefined;
  return fields?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
};

/** Registers tools that ask the client for something before they answer (revision 2026-07-28). */
export const registerInputTools = (server: McpServer): void => {
  const add = (name: string, run: (context: ServerContext) => unknown): void => {
    server.registerTool(name, { description: `Asks for input as ${name}.` }, run as never);
  };
  add('test_input_required_result_elicitation', (context) => {
    const name = nameOf(context, 'user_name');
    if (name !== undefined) return done(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', Name) } });
  });
  add('test_input_required_result_sampling', ({ mcpReq }) => {
    const response = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (response.kind === 'sampling') return done(JSON.stringify(response.result.content));
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } });
  });
  add('test_input_required_result_list_roots', ({ mcpReq }) => {
    const response = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (response.kind === 'roots') return done(response.roots.map(({ uri }) => uri).join(' '));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of [
    'test_input_required_result_request_state',
    'test_input_required_result_tampered_state',
  ]) {
    add(name, async ({ mcpReq }) => {
      const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm', Confirmed)?.ok === true;
      if (isConfirmed && mcpReq.requestState<{ round: number }>()?.round === 1) return done('state-ok');
      return inputRequired({
        inputRequests: { confirm: ask('Please confirm', Confirmed) },
        requestState: await STATE.mint({ round: 1 }),
      });
    });
  }
  add('test_input_required_result_multiple_inputs', async (context) => {
    const { inputResponses } = context.mcpReq;
    const name = nameOf(context, 'user_name');
    const greeting = inputResponse(inputResponses, 'greeting');
    const roots = inputResponse(inputResponses, 'client_roots');
    if (name !== undefined && greeting.kind === 'sampling' && roots.kind === 'roots')
      return done(`Hello, ${name}!`);
    return inputRequired({
      inputRequests: {
        user_name: ask('What is your name?', Name),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await STATE.mint({ round: 1 }),
    });
  });
  add('test_input_required_result_multi_round', async (context) => {
    const { mcpReq } = context;
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
    const color = acceptedContent(mcpReq.inputResponses, 'step2', Color)?.color;
    if (round === 2 && color !== undefined) return done(`You like ${color}.`);
    const isNamed = round === 1 && nameOf(context, 'step1') !== undefined;
    return inputRequired({
      inputRequests: isNamed
        ? { step2: ask('Step 2: What is your favorite color?', Color) }
        : { step1: ask('Step 1: What is your name?', Name) },
      requestState: await STATE.mint({ round: isNamed ? 2 : 1 }),
    });
  });
  add('test_input_required_result_capabilities', ({ mcpReq }) => {
    const able = capabilitiesOf(mcpReq);
    const asked = {
      ...('sampling' in able ? { greeting: sample('Generate a greeting') } : {}),
      ...('elicitation' in able ? { user_name: ask('What is your name?', Name) } : {}),
    };
    return inputRequired({ inputRequests: asked });
  });
  // The SDK refuses this for a client that did not declare the capability.
  add('test_missing_capability', () =>
    inputRequired({ inputRequests: { greeting: sample('Generate a greeting') } }),
  );
  add('test_streaming_elicitation', () =>
    inputRequired({ inputRequests: { user_name: ask('What is your name?', Name) } }),
  );
  add('test_logging_tool', () => done('Nothing is logged without a level.'));
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for input.' }, ((
    context: ServerContext,
  ) => {
    const Context = z.object({ context: z.string() });
    const given = acceptedContent(context.mcpReq.inputResponses, 'user_context', Context)?.context;
    if (given !== undefined) return { messages: [{ role: 'user', content: { type: 'text', text: given } }] };
    const asked = ask('What context should the prompt use?', Context);
    return inputRequired({ inputRequests: { user_context: asked } });
  }) as never);
};
