import { isSameJson } from '../../base/json/json-value.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import type { RequestEntry } from '../../contract/session/journal-entry.ts'

/** Where a request was captured. */
export interface CapturePlace {
  loopId?: string | undefined
  turnIndex?: number | undefined
}

/** So many requests in a row may rest on each other: where one is lost, so many cannot be shown. */
const longestChain = 64

/**
 * Writes of each captured request what the one before it does not say: a conversation sends almost the same again in every turn, and a log that held
 * all of it would grow with the square of its turns.
 */
export class RepeatedRequests {
  #last: { place: CapturePlace; request: AnnotatedRequest } | undefined
  #chain = 0

  /** The entry as it is written. What it repeats is told by identity: messages that nobody has changed are the same objects. */
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

  /** The request that an entry of a log tells of; `undefined` where the one that it repeats is not there. Both then share their messages. */
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

  /** What comes next is written whole: nobody knows what the log has of what was written before. */
  forget(): void {
    this.#last = undefined
  }
}

/** How many messages both begin with. */
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
