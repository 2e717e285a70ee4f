import type { MessageView, RunState } from '../../../src/store.ts'

type Part = RunState['data'][number]
type Shown = Pick<RunState, 'messages' | 'live' | 'tools'>

interface Anchors {
  data: readonly Part[]
  live: string | undefined
  byMessage: ReadonlyMap<string, readonly Part[]>
}

/** The last result per list of messages. A delta changes neither. */
const known = new WeakMap<readonly MessageView[], Anchors>()

/**
 * Returns the data parts that belong to no tool call on the page, by the id of the message that they follow. A stored part follows the
 * message before it. A part from the current turn follows the newest message.
 */
export function anchorsOf({ messages, live, tools }: Shown, data: readonly Part[]): ReadonlyMap<string, readonly Part[]> {
  const before = known.get(messages)
  if (before?.data === data && before.live === live?.id) return before.byMessage
  const places = new Map<string, string>()
  let last: string | undefined
  for (const view of messages) {
    if (view.role === 'user' || view.role === 'assistant') last = view.id
    const key = storedKey(view)
    if (key !== undefined && last !== undefined && !places.has(key)) places.set(key, last)
  }
  const newest = live?.id ?? last
  const byMessage = new Map<string, Part[]>()
  for (const part of data) {
    if (part.toolCallId !== undefined && tools[part.toolCallId] !== undefined) continue
    const place = places.get(keyOf(part)) ?? newest
    if (place !== undefined) byMessage.set(place, [...(byMessage.get(place) ?? []), part])
  }
  known.set(messages, { data, live: live?.id, byMessage })
  return byMessage
}

/** The key for the part that an extension message stores, or for the message itself if it is the part. */
function storedKey({ message }: MessageView): string | undefined {
  if (message?.role !== 'extension') return undefined
  if (message.kind !== 'data') return keyOf({ name: message.kind, dataId: message.id })
  const { name, dataId } = Object(message.data)
  return keyOf({ name: String(name), dataId: String(dataId) })
}

const keyOf = ({ name, dataId }: Pick<Part, 'name' | 'dataId'>) => `${name} ${dataId}`
