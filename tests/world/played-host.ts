/** Names of headers are in lower case. */
export type PlayedRequest = {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

export type PlayedReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

/** `null` closes the connection without an answer. */
export type PlayedHost = (request: PlayedRequest) => PlayedReply | null;

export const html = (body: string, status = 200): PlayedReply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
});

export const NOT_FOUND: PlayedReply = html('<!doctype html><title>Not found</title>', 404);
