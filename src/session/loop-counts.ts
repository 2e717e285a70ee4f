/**
 * How many loops of each configuration there were, by what their ids `{session}.{segment}.{N}` say, so that no id is used twice. Ids of another
 * form are passed over: nothing of ours will make one.
 */
export function loopCountsOf(sessionId: string, loopIds: Iterable<string>): Record<string, number> {
  const counts = new Map<string, number>()
  const prefix = `${sessionId}.`
  for (const loopId of loopIds) {
    const end = loopId.lastIndexOf('.')
    if (!loopId.startsWith(prefix) || end < prefix.length || !/^\d{1,15}$/.test(loopId.slice(end + 1))) continue
    const segment = loopId.slice(prefix.length, end)
    counts.set(segment, Math.max(counts.get(segment) ?? 0, Number(loopId.slice(end + 1))))
  }
  return Object.fromEntries(counts)
}
