import type { AgentEvent } from '../types/event.ts'

/** An event without its text: two objects, their strings and a place in the queue, as measured in V8. */
const eventBytes = 200
const charBytes = 2
const valueBytes = 16
/** Counting stops here, so that a cyclic or enormous value costs bounded time. */
const maxValues = 10_000

/**
 * Roughly how many bytes an event keeps alive.
 *
 * **Contract**: O(1) for deltas. Text that several events share (a message in `messageStart`, `messageEnd`, `turnEnd`, `agentEnd`) is
 * counted once, where it is complete: in `messageEnd`.
 */
export function eventSize(event: AgentEvent): number {
  switch (event.type) {
    case 'messageUpdate':
      return eventBytes + charBytes * event.delta.delta.length
    case 'messageEnd':
      return eventBytes + valueSize(event.message)
    case 'toolExecutionUpdate':
      return eventBytes + valueSize(event.partialResult)
    case 'toolExecutionEnd':
      return eventBytes + valueSize(event.result)
    case 'progressMessage':
      return eventBytes + charBytes * event.text.length
    default:
      return eventBytes
  }
}

/** Bytes of a JSON value. Not recursive: what a tool returns may be nested deeper than the stack. */
function valueSize(root: unknown): number {
  const open: unknown[] = [root]
  let bytes = 0
  for (let seen = 0; open.length > 0 && seen < maxValues; seen++) {
    const value = open.pop()
    bytes += valueBytes
    if (typeof value === 'string') bytes += charBytes * value.length
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength
    else if (typeof value === 'object' && value !== null) bytes += openMembers(value, open)
  }
  return bytes
}

/** Adds the members of `value` to `open` while there is room; returns the bytes of those it leaves out. */
function openMembers(value: object, open: unknown[]): number {
  if (!Array.isArray(value)) {
    for (const key in value) if (open.length < maxValues) open.push(value[key as keyof typeof value])
    return 0
  }
  const count = Math.min(value.length, Math.max(0, maxValues - open.length))
  for (let index = 0; index < count; index++) open.push(value[index])
  return valueBytes * (value.length - count)
}
