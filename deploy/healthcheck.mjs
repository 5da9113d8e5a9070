// `HEALTHCHECK` of the image: whether the process in this container lives, on its operator port or, of `ops`, its own.
// oxlint-disable-next-line node/no-process-env -- It runs in the container by itself, beside the process.
const { OPS_PORT, METRICS_PORT } = process.env;
const answer = await fetch(`http://127.0.0.1:${OPS_PORT || METRICS_PORT || 9464}/healthz`).catch(() => null);
process.exit(answer?.ok ? 0 : 1);
