/** This page's storage usage in bytes. Absent if unknown. */
export interface StorageFigures {
  used?: number
  allowed?: number
  /** Whether the browser has promised not to clear it on its own. */
  isPersistent: boolean
}

export async function storageFigures(): Promise<StorageFigures> {
  const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {}
  const isPersistent = (await navigator.storage?.persisted?.().catch(() => false)) ?? false
  return { isPersistent, ...(usage !== undefined && { used: usage }), ...(quota !== undefined && { allowed: quota }) }
}

/** Requests persistent storage. Resolves with whether it was granted. */
export async function askToPersist(): Promise<boolean> {
  return (await navigator.storage?.persist?.().catch(() => false)) ?? false
}
