import { type CapturedTurn, turnKey } from '../../state/log/event-log.ts'
import type { Selection } from '../../state/selection.ts'

/** Returns the selected turn's request, or the newest request, and the previous request in the same conversation. */
export function selectedRequest(requests: readonly CapturedTurn[], selection: Selection | undefined) {
  const at = selection === undefined ? requests.length - 1 : requests.findLastIndex((each) => turnKey(each) === turnKey(selection))
  const turn = requests[at]
  // A sub-agent has its own conversation, so its requests are compared with each other.
  const isSame = (other: CapturedTurn) =>
    isSub(other.loopId) === isSub(turn?.loopId ?? '') && (!isSub(other.loopId) || other.loopId === turn?.loopId)
  const before = requests.slice(0, Math.max(0, at)).findLastIndex(isSame)
  const after = requests.findIndex((other, index) => index > at && isSame(other))
  return { turn, previous: at < 0 ? undefined : requests[before], next: at < 0 || after < 0 ? undefined : requests[after] }
}

function isSub(loopId: string): boolean {
  return loopId.includes('.sub.')
}
