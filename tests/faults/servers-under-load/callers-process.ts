import { fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';

/** Callers have a process of their own, because they must not take time from the API. */
export type CallersProcess = AsyncDisposable & {
  /** Sends one message at a time. Throws when the process ends before it replies. */
  readonly ask: <Reply>(message: Serializable) => Promise<Reply>;
};

export const startCallers = (path: string): CallersProcess => {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const failed = ended.then(() => Promise.reject(new Error(`${path} ended`)));
  failed.catch(() => undefined);
  return {
    ask: async <Reply>(message: Serializable): Promise<Reply> => {
      const reply = once(child, 'message');
      child.send(message);
      const [answer] = await Promise.race([reply, failed]);
      return answer as Reply;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};
