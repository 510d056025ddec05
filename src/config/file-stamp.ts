/** A stamp that changes when a file does. */
export interface FileStamp {
  mtimeMs: number;
  /** Device, inode, size and both times in nanoseconds. */
  key: string;
}

export function stampOf(stat: {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
  mtimeMs: bigint;
}): FileStamp {
  return {
    mtimeMs: Number(stat.mtimeMs),
    key: [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":"),
  };
}

/**
 * A file that changed this shortly before it was read may change once more without its times changing (a timestamp is
 * as coarse as 2 s on some file systems), so such a reading is not trusted the next time.
 */
const settleMs = 2000;

export function isSettled(stamp: FileStamp, readAt: number): boolean {
  return readAt - stamp.mtimeMs > settleMs;
}
