/**
 * Postgres channel on which operators tell projector processes that there is a request in the projector's tables. The
 * requests are rows: a process that was not listening finds them on its next look.
 */
export const PROJECTOR_CONTROL_CHANNEL = 'projector_control';
