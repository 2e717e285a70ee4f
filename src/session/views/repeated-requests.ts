import { isSameJson } from '../../base/json/json-value.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import type { RequestEntry } from '../../contract/session/journal-entry.ts'

/** Position of a captured request. */
export interface CapturePlace {
  loopId?: string | undefined
  turnIndex?: number | undefined
}

/** Maximum length of a chain of differences. Losing one record makes at most this many requests unreadable. */
const longestChain = 64

/** Stores each captured request as a difference from the previous one, so that a log does not grow quadratically with its turns. */
export class RepeatedRequests {
  #last: { place: CapturePlace; request: AnnotatedRequest } | undefined
  #chain = 0

  /** Returns the entry to write. Detects repeated messages by object identity. */
  shortened(entry: RequestEntry, { loopId, turnIndex }: CapturePlace): RequestEntry {
    const { request } = entry
    const last = this.#last
    this.#last = { place: { loopId, turnIndex }, request }
    const messages = last === undefined ? 0 : sharedMessages(last.request, request)
    if (last?.place.loopId === undefined || last.place.turnIndex === undefined || messages === 0 || this.#chain >= longestChain) {
      this.#chain = 0
      return entry
    }
    this.#chain += 1
    const systemPrompt = last.request.systemPrompt === request.systemPrompt
    const tools = isSameJson(last.request.tools, request.tools)
    const rest = { messages: request.messages.slice(messages), provenance: request.provenance.slice(messages) }
    return {
      ...entry,
      request: { ...request, ...rest, ...(systemPrompt && { systemPrompt: '' }), ...(tools && { tools: [] }) },
      repeats: { loopId: last.place.loopId, turnIndex: last.place.turnIndex, messages, systemPrompt, tools },
    }
  }

  /** Returns an entry's full request, which shares messages with its predecessor, or `undefined` if the predecessor is missing. */
  restored({ request, repeats }: RequestEntry, { loopId, turnIndex }: CapturePlace): AnnotatedRequest | undefined {
    const last = this.#last
    const isThere =
      repeats === undefined ||
      (last?.place.loopId === repeats.loopId &&
        last.place.turnIndex === repeats.turnIndex &&
        last.request.messages.length >= repeats.messages)
    const whole = isThere ? joined(request, repeats, last?.request) : undefined
    this.#last = whole && { place: { loopId, turnIndex }, request: whole }
    return whole
  }

  /** Writes the next request in full, because the log's content is unknown. */
  forget(): void {
    this.#last = undefined
  }
}

/** Counts the common messages at the start. */
function sharedMessages(before: AnnotatedRequest, after: AnnotatedRequest): number {
  const most = Math.min(before.messages.length, after.messages.length)
  let at = 0
  while (at < most && before.messages[at] === after.messages[at] && isSameJson(before.provenance[at], after.provenance[at])) at += 1
  return at
}

function joined(request: AnnotatedRequest, repeats: RequestEntry['repeats'], before: AnnotatedRequest | undefined): AnnotatedRequest {
  if (repeats === undefined || before === undefined) return request
  return {
    ...request,
    systemPrompt: repeats.systemPrompt ? before.systemPrompt : request.systemPrompt,
    tools: repeats.tools ? before.tools : request.tools,
    messages: [...before.messages.slice(0, repeats.messages), ...request.messages],
    provenance: [...before.provenance.slice(0, repeats.messages), ...request.provenance],
  }
}
