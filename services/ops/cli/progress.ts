import { MultiBar, type SingleBar } from 'cli-progress';

const REDRAWN_PER_SECOND = 5;
const LINE_EVERY_MS = 5_000;
const NAME_WIDTH = 20;

/** Time after which a request without a projector is reported as waiting. */
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

/** `asked` is the stored name of a request that has not started. */
export const formatState = (state: string): string => (state === 'asked' ? 'requested' : state);

const duration = (seconds: number): string => {
  const rounded = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(rounded / 60);
  return minutes === 0 ? `${rounded} s` : `${minutes} min ${rounded % 60} s`;
};

export const createWaitingNotice = (): ((state: string) => void) => {
  const startedMs = performance.now();
  let isPrinted = false;
  return (state) => {
    if (state !== 'asked' || isPrinted || performance.now() - startedMs < TAKEN_UP_MS) return;
    isPrinted = true;
    console.error('\nWaiting for the projector that owns this projection (busy or not running).');
  };
};

export const createProgressBars = (): Progress => {
  const bars = new MultiBar({
    format: '{name} {bar} {value} of {total} events, {pace}{state}',
    stream: process.stderr,
    fps: REDRAWN_PER_SECOND,
    noTTYOutput: true,
    notTTYSchedule: LINE_EVERY_MS,
    hideCursor: true,
    barsize: 24,
  });
  const barByName = new Map<string, SingleBar>();
  return {
    show: (name, done, total, state, rate, etaSeconds) => {
      const pace = [
        ...(rate > 0 ? [`${rate}/s, `] : []),
        ...(etaSeconds === null ? [] : [`${duration(etaSeconds)} left, `]),
      ].join('');
      const labels = { name: name.padEnd(NAME_WIDTH), state: formatState(state), pace };
      const bar = barByName.get(name) ?? bars.create(total, done, labels);
      barByName.set(name, bar);
      bar.setTotal(total);
      bar.update(done, labels);
    },
    end: () => bars.stop(),
  };
};
