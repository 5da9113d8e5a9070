/** Delta debugging (Zeller and Hildebrandt, 2002): the result fails, and no item can be left out. */
export const shrink = <Item>(
  items: readonly Item[],
  stillFails: (part: readonly Item[]) => boolean,
): readonly Item[] => {
  let kept = items;
  let size = Math.ceil(kept.length / 2);
  while (size > 0 && kept.length > 0) {
    const before = kept.length;
    for (let at = 0; at < kept.length; ) {
      const rest = kept.toSpliced(at, size);
      if (stillFails(rest)) kept = rest;
      else at += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (kept.length === before) size = 0;
  }
  return kept;
};
