/**
 * Postgres notification channel for new operator requests, which are rows of the projector's tables. A process that was
 * not listening finds them at its next poll.
 */
export const PROJECTOR_CONTROL_CHANNEL = 'projector_control';
