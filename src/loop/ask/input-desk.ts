import { copyJson } from '../../base/json/copy-json.ts'
import { isPlain, jsonFault } from '../../base/json/json-fault.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { PendingInput } from '../../contract/run/run-facts.ts'
import type { InputAnswer, InputDesk, InputRef, InputRequest } from '../../types/run/input-request.ts'

interface Waiting {
  readonly request: InputRequest
  readonly answer: (answer: InputAnswer) => void
}

/** What the calls of a run ask people, and the answers. Source: docs/concepts/approval.md */
export class Inputs implements InputDesk {
  readonly #waiting = new Map<string, Waiting>()

  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingInput[] {
    return Array.from(this.#waiting.values(), ({ request: { loopId: _loop, ...pending } }) => copyJson(pending))
  }

  /** Answers a request that waits. Throws `ConfigError` `unknownInput` where none does, `invalidOption` for what is no answer. */
  answer(request: InputRef | string, given: InputAnswer): void {
    const inputId = typeof request === 'string' ? request : Object(request).inputId
    const waiting = this.#waiting.get(inputId)
    if (waiting === undefined) throw new ConfigError('unknownInput', `No request for input "${inputId}" waits. See run.pendingInputs().`)
    const answer = checkedAnswer(given)
    this.#waiting.delete(inputId)
    waiting.answer(answer)
  }

  wait(request: InputRequest, answer: (answer: InputAnswer) => void): () => void {
    this.#waiting.set(request.inputId, { request, answer })
    return () => void this.#waiting.delete(request.inputId)
  }
}

/** A copy of an answer. Throws `ConfigError` `invalidOption` for what is none. */
function checkedAnswer(given: InputAnswer): InputAnswer {
  const { action, content }: { action?: unknown; content?: unknown } = Object(given)
  if (action === 'decline' || action === 'cancel') return { action }
  if (action === 'accept' && content === undefined) return { action }
  const isObject = typeof content === 'object' && content !== null && isPlain(content) && !Array.isArray(content)
  if (action === 'accept' && isObject && jsonFault(content, 'content') === undefined) return { action, content: copyJson({ ...content }) }
  const allowed = "{ action: 'accept', content? } with a JSON object, { action: 'decline' } or { action: 'cancel' }"
  throw new ConfigError('invalidOption', `That is no answer to a request for input. It takes ${allowed}.`)
}
