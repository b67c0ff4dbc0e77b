/** A number of turns that are taken and given back; who comes when all are taken waits in line. */
export interface Turns {
  /** Undefined where there is one at once; else it resolves with the turn of somebody who gave it back. */
  take(): Promise<void> | undefined;
  giveBack(): void;
  /** Whether somebody waits. */
  wanted(): boolean;
}

export function turnsOf(many: number): Turns {
  let left = many;
  const waiting: (() => void)[] = [];
  return {
    take() {
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left -= 1;
      return undefined;
    },
    giveBack() {
      const next = waiting.shift();
      if (next) next();
      else left += 1;
    },
    wanted: () => waiting.length > 0,
  };
}
