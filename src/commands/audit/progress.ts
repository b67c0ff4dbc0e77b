/** Says how far a list has been gone through. */
export interface Progress {
  readonly show: (done: number, left: number | undefined) => void;
  readonly stop: () => void;
}

const NONE: Progress = { show: () => {}, stop: () => {} };

/** A bar on a terminal, nothing elsewhere. */
export async function progress(stream: NodeJS.WriteStream): Promise<Progress> {
  if (!stream.isTTY) return NONE;
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar({
    stream,
    format: 'pods [{bar}] {value} of {total}',
    barCompleteChar: '#',
    barIncompleteChar: '.',
    clearOnComplete: true,
    hideCursor: true,
  });
  let started = false;
  return {
    show(done, left = 0) {
      if (!started) bar.start(done + left, done);
      started = true;
      bar.setTotal(done + left);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
}
