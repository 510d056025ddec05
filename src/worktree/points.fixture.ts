/** The steps at which crash tests kill the process, in order. */
export const createPoints = [
  "workspace.create.branched",
  "workspace.create.added",
  "workspace.create.attached",
  "workspace.create.checked-out",
  "workspace.create.submodules",
  "workspace.create.linked",
  "workspace.create.commands",
  "workspace.create.ready",
] as const;

export const sparePoints = ["workspace.spare.added", "workspace.spare.checked-out", "workspace.spare.ready"] as const;

export const trashPoints = [
  "workspace.trash.snapshot",
  "workspace.trash.entry",
  "workspace.trash.pinned",
  "workspace.trash.locked",
  "workspace.trash.moved",
  "workspace.trash.repaired",
  "workspace.trash.detached",
] as const;

export const restorePoints = [
  "workspace.restore.moved",
  "workspace.restore.repaired",
  "workspace.restore.attached",
  "workspace.restore.unlocked",
  "workspace.restore.unpinned",
] as const;

export const emptyPoints = [
  "workspace.empty.hidden",
  "workspace.empty.unregistered",
  "workspace.empty.unpinned",
  "workspace.empty.deleted",
] as const;
