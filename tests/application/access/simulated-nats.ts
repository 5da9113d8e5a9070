import type { NatsConnection } from 'nats';

/** Milliseconds until each copy of a message arrives; `null`: lost. */
export type Travel = (subject: string) => number | readonly number[] | null;

/** NATS server in memory: each message arrives after the time that `travel` returns, or never. */
export const createSimulatedNats = (travel: Travel = () => 1, flushMs = 5) => {
  const subscribers = new Map<string, Set<(text: string) => void>>();
  const sent: string[] = [];
  const publish = (subject: string, text: string): void => {
    sent.push(subject);
    const deliver = (): void => {
      for (const receive of subscribers.get(subject) ?? []) receive(text);
    };
    for (const delayMs of [travel(subject) ?? []].flat()) setTimeout(deliver, delayMs);
  };
  let isSilent = false;
  const connection = {
    isClosed: () => false,
    flush: () =>
      isSilent
        ? new Promise<void>(() => undefined)
        : new Promise<void>((resolve) => void setTimeout(resolve, flushMs)),
    publish,
    subscribe: (
      subject: string,
      { callback }: { callback: (error: null, message: { string: () => string }) => void },
    ) => {
      const receive = (text: string): void => callback(null, { string: () => text });
      const all = subscribers.get(subject) ?? new Set();
      subscribers.set(subject, all.add(receive));
      return { unsubscribe: () => all.delete(receive) };
    },
  } as unknown as NatsConnection;
  return {
    connection,
    publish,
    silence: () => {
      isSilent = true;
    },
    sent,
    subjects: (): readonly string[] => [...subscribers.keys()],
  };
};
