import { MultiBar, type SingleBar } from 'cli-progress';

/** On a terminal bars, redrawn so often; elsewhere a line each so often. */
const REDRAWN_PER_SECOND = 5;
const LINE_EVERY_MS = 5_000;
const NAME_WIDTH = 20;

/** Nobody has taken up what was asked for within this time: then it is said that nobody may be there. */
const TAKEN_UP_MS = 5_000;

export type Progress = {
  show(
    name: string,
    done: number,
    total: number,
    state: string,
    rate: number,
    etaSeconds: number | null,
  ): void;
  end(): void;
};

const duration = (seconds: number): string => {
  const rounded = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(rounded / 60);
  return minutes === 0 ? `${rounded} s` : `${minutes} min ${rounded % 60} s`;
};

/** Says once, of what is still only asked for after a while, what it waits for. */
export const openWaitingNotice = (): ((state: string) => void) => {
  const startedMs = performance.now();
  let isTold = false;
  return (state) => {
    if (state !== 'asked' || isTold || performance.now() - startedMs < TAKEN_UP_MS) return;
    isTold = true;
    console.error('\nWaiting: it begins when the projector that owns it is free, or one is started.');
  };
};

/** Bars on standard error, one a name: what is piped on holds nothing of them. */
export const openProgress = (): Progress => {
  const bars = new MultiBar({
    format: '{name} {bar} {value} of {total} events, {pace}{state}',
    stream: process.stderr,
    fps: REDRAWN_PER_SECOND,
    noTTYOutput: true,
    notTTYSchedule: LINE_EVERY_MS,
    hideCursor: true,
    barsize: 24,
  });
  const shown = new Map<string, SingleBar>();
  return {
    show: (name, done, total, state, rate, etaSeconds) => {
      const pace = [
        ...(rate > 0 ? [`${rate}/s, `] : []),
        ...(etaSeconds === null ? [] : [`${duration(etaSeconds)} left, `]),
      ].join('');
      const words = { name: name.padEnd(NAME_WIDTH), state, pace };
      const bar = shown.get(name) ?? bars.create(total, done, words);
      shown.set(name, bar);
      bar.setTotal(total);
      bar.update(done, words);
    },
    end: () => bars.stop(),
  };
};
