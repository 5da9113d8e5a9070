import type { Msg, NatsConnection, NatsError, Subscription } from 'nats';
import { z } from 'zod';

/** Core NATS without a stream: a lost message loses rights until the minute ends, and never doubles them. */
const SUBJECTS = 'api.rights';
/** Maximum callers per message of counts. */
const CALLERS_PER_MESSAGE = 2_000;
/** Maximum characters of the name of a caller in a message of another process. */
const NAME_MAX_CHARACTERS = 300;
/** Maximum requests of a limit in a message of another process. */
const REQUESTS_MAX = 1_000_000;

const node = z.string().min(1).max(NAME_MAX_CHARACTERS);
const name = z.string().max(NAME_MAX_CHARACTERS);
const window = z.int();

/** Requests that a process has counted since its last message, by caller. An empty list says that it lives. */
const Counted = z.object({
  node,
  window,
  counts: z.array(z.tuple([name, z.int()])).max(CALLERS_PER_MESSAGE),
});
/** A process asks the others for half of their rights of one caller. */
const Asked = z.object({ node, window, ask: z.int(), name, limit: z.int().min(1).max(REQUESTS_MAX) });
/** The rights that a process has given up for the one that asked; 0 when it has none. */
const Given = z.object({ node, ask: z.int(), rights: z.int().min(0).max(REQUESTS_MAX) });

export type Counts = readonly (readonly [name: string, requests: number])[];
export type Asked = z.infer<typeof Asked>;
export type Given = z.infer<typeof Given>;

/** Handles the messages of other processes. */
export type RightsReceiver = {
  counted(from: string, window: number, counts: Counts): void;
  asked(message: Asked): void;
  given(message: Given): void;
};

/** Exchanges counts and rights with the processes of one group. */
export type RightsBus = Disposable & {
  /** False once the connection is closed. It reconnects by itself before that. */
  isOpen(): boolean;
  publishCounts(window: number, counts: Counts): void;
  ask(message: Omit<Asked, 'node'>): void;
  give(to: string, message: Omit<Given, 'node'>): void;
};

/** Parses JSON. Returns `undefined` for another text: core NATS carries messages of any sender. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Subscribes to the messages of a group. Drops those of this process, and those of another shape. */
export const openRightsBus = (
  connection: NatsConnection,
  { group, node: own }: { readonly group: string; readonly node: string },
  receiver: RightsReceiver,
): RightsBus => {
  const subjectOf = (kind: string): string => `${SUBJECTS}.${group}.${kind}`;
  const subscribe = <T extends { readonly node: string }>(
    subject: string,
    schema: z.ZodType<T>,
    receive: (message: T) => void,
  ): Subscription =>
    connection.subscribe(subject, {
      callback: (error: NatsError | null, message: Msg) => {
        if (error) return;
        const { success, data } = schema.safeParse(parseJson(message.string()));
        if (success && data.node !== own) receive(data);
      },
    });
  const subscriptions = [
    subscribe(subjectOf('counted'), Counted, (one) => receiver.counted(one.node, one.window, one.counts)),
    subscribe(subjectOf('asked'), Asked, (one) => receiver.asked(one)),
    subscribe(subjectOf(`given.${own}`), Given, (one) => receiver.given(one)),
  ];
  const publish = (kind: string, message: object): void => {
    if (!connection.isClosed())
      connection.publish(subjectOf(kind), JSON.stringify({ node: own, ...message }));
  };
  return {
    isOpen: () => !connection.isClosed(),
    publishCounts: (current, counts) => {
      for (let from = 0; from === 0 || from < counts.length; from += CALLERS_PER_MESSAGE)
        publish('counted', { window: current, counts: counts.slice(from, from + CALLERS_PER_MESSAGE) });
    },
    ask: (message) => publish('asked', message),
    give: (to, message) => publish(`given.${to}`, message),
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
};
