/** Milliseconds between the starts of two requests to a host. Apart from the client, whose code forecasts need not load. */
export const PACE_MS = 5_000;
