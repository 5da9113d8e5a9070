import type { Page } from 'playwright-core';

/** Of text to what is behind it; WCAG 2.2, 1.4.3. Ours is all of ordinary size. */
const CONTRAST_MIN = 4.5;

/** Runs in the page. Colours are read from a canvas, which understands every notation that a style may have. */
const FAINT_TEXT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const bytes = (paint) => {
    canvas.clearRect(0, 0, 1, 1);
    paint();
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const fill = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
    return layers;
  };
  const faint = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    const style = getComputedStyle(element);
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest(':disabled')) continue;
    const layers = behind(element);
    const ground = bytes(() => layers.forEach(fill));
    const text = bytes(() => { layers.forEach(fill); fill(element.closest('svg') ? style.fill : style.color); });
    const [light, dark] = [luminance(ground), luminance(text)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < ${CONTRAST_MIN}) faint.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(1) + ': ' + element.textContent.slice(0, 40));
  }
  return [...faint];
})()`;

/** Text that stands out too little from what is behind it. */
export const faintText = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(FAINT_TEXT);
