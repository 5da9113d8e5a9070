/** Between the starts of two requests to a host. A file of its own, because forecasts need not load the client. */
export const PACE_MS = 5_000;
