import { drawing, element } from './dom.js';
import { count, moment } from './format.js';

const HOUR_MS = 3_600_000;

const pathOf = ({ at, lag_facts: lag }, width, height, most, now) => {
  const points = at.map((time, index) => {
    const x = width * (1 - (now - Date.parse(time)) / HOUR_MS);
    return [Math.max(0, x), height - (height * lag[index]) / most];
  });
  if (points.length === 0) return null;
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' L');
  const [first] = points;
  const last = points.at(-1);
  return { line: `M${line}`, area: `M${first[0]},${height} L${line} L${last[0]},${height} Z` };
};

const summaryOf = ({ lag_facts: lag }) =>
  lag.length === 0
    ? 'No samples in the last hour.'
    : `Lag of the last hour: ${count(lag.at(-1))} events now, ${count(Math.max(...lag))} at most.`;

export const sparkline = (series) => {
  const [width, height] = [120, 24];
  const most = Math.max(1, ...series.lag_facts);
  const path = pathOf(series, width, height - 2, most, Date.now());
  return drawing(
    'svg',
    { class: 'sparkline', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': summaryOf(series) },
    path && drawing('path', { class: 'area', d: path.area }),
    path && drawing('path', { class: 'line', d: path.line }),
  );
};

export const NARROW = matchMedia('(max-width: 720px)');

const plotWidth = () => (NARROW.matches ? 280 : 640);

/** Draws a chart with axes: events upwards, the last hour from left to right. Its width fits the screen. */
export const plot = (series) => {
  const [width, height, left, bottom] = [plotWidth(), 160, 52, 22];
  const most = Math.max(1, ...series.lag_facts);
  const now = Date.now();
  const path = pathOf(series, width, height, most, now);
  const lines = [0, 15, 30, 45, 60].filter((minutes) => minutes % (NARROW.matches ? 30 : 15) === 0);
  const labels = (most < 2 ? [0, most] : [0, most / 2, most]).map((value) =>
    drawing(
      'text',
      { x: left - 8, y: 8 + height - (height * value) / most + 4, 'text-anchor': 'end' },
      count(value),
    ),
  );
  return element(
    'figure',
    {},
    drawing(
      'svg',
      {
        class: 'plot',
        viewBox: `0 0 ${left + width + 12} ${height + bottom + 8}`,
        role: 'img',
        'aria-label': summaryOf(series),
      },
      labels,
      drawing(
        'g',
        { transform: `translate(${left} 8)` },
        [0, 0.5, 1].map((part) =>
          drawing('line', { class: 'grid', x1: 0, x2: width, y1: height * part, y2: height * part }),
        ),
        lines.map((minutes) =>
          drawing(
            'text',
            {
              x: width * (1 - minutes / 60),
              y: height + 17,
              'text-anchor': minutes === 0 ? 'end' : minutes === 60 ? 'start' : 'middle',
            },
            minutes === 0 ? 'now' : `−${minutes} min`,
          ),
        ),
        path && drawing('path', { class: 'area', d: path.area }),
        path && drawing('path', { class: 'line', d: path.line }),
      ),
    ),
    element(
      'figcaption',
      {},
      summaryOf(series),
      series.at.length === 0 ? '' : ` Last sample ${moment(series.at.at(-1))}.`,
    ),
  );
};
