// `HEALTHCHECK` of the image: asks the health endpoint of the process in this container. `ops` serves it on its own
// port, the other processes on their metrics port.
// oxlint-disable-next-line node/no-process-env -- It runs alone in the container, next to the process.
const { OPS_PORT, METRICS_PORT } = process.env;
const answer = await fetch(`http://127.0.0.1:${OPS_PORT || METRICS_PORT || 9464}/healthz`).catch(() => null);
process.exit(answer?.ok ? 0 : 1);
