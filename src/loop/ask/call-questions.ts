import type { AbortScope } from '../../base/abort.ts'
import { copyJson } from '../../base/json/copy-json.ts'
import { isPlain, jsonFault } from '../../base/json/json-fault.ts'
import { startTimer } from '../../base/timer.ts'
import { ConfigError } from '../../contract/errors.ts'
import { newId } from '../../contract/message/ids.ts'
import type { InputQuestion, PendingInput } from '../../contract/run/run-facts.ts'
import type { InputAnswer, InputDesk, InputRequest } from '../../types/run/input-request.ts'
import type { LoopState } from '../loop-state.ts'

/** The call on whose behalf people are asked. `pause` stops its clock, and returns how to start it again. */
export interface AskingCall {
  id: string
  name: string
  stop: AbortScope
  pause(): () => void
}

/**
 * Where one call asks people, and the loops that it starts: their requests rise to the run of the call, as events of it.
 *
 * **Contract**
 * - Each `inputRequested` has one `inputResolved`, also when nobody answers, the call is over, or it no longer asks.
 * - After `close`, nobody is asked. What waits when the call is stopped is withdrawn at once.
 */
export class CallInputs implements InputDesk {
  readonly #loop: LoopState
  readonly #above: InputDesk | undefined
  readonly #call: AskingCall
  /** How to withdraw each request that waits. */
  readonly #waiting = new Set<(reason: string) => void>()
  #isClosed = false

  constructor(loop: LoopState, above: InputDesk | undefined, call: AskingCall) {
    this.#loop = loop
    this.#above = above
    this.#call = call
  }

  /** Asks on behalf of the call itself. Never rejects; throws `ConfigError` `invalidOption` for what is no question. */
  ask(question: InputQuestion, signal?: AbortSignal): Promise<InputAnswer> {
    const { id: toolCallId, name: toolName } = this.#call
    const pending = { inputId: newId(), toolCallId, toolName, ...checkedQuestion(question) }
    const { approvalTimeoutMs } = this.#loop.config
    if (this.#above === undefined || signal?.aborted) return Promise.resolve({ action: 'cancel' })
    const goOn = this.#loop.budget.pause()
    return new Promise((resolve) => {
      let withdraw: (reason: string) => void = () => undefined
      const onAbort = () => withdraw('it is no longer asked')
      const stopTimer =
        approvalTimeoutMs === undefined ? undefined : startTimer(approvalTimeoutMs, () => withdraw('nobody answered in time'))
      signal?.addEventListener('abort', onAbort, { once: true })
      withdraw = this.#wait({ ...pending, loopId: this.#loop.events.loopId }, (answer) => {
        stopTimer?.()
        signal?.removeEventListener('abort', onAbort)
        goOn()
        resolve(answer)
      })
    })
  }

  wait(request: InputRequest, answer: (answer: InputAnswer) => void): () => void {
    const { id: toolCallId, name: toolName } = this.#call
    const subAgent = { toolCallId, toolName, loopId: request.subAgent?.loopId ?? request.loopId }
    const withdraw = this.#wait({ ...request, subAgent, loopId: subAgent.loopId }, answer)
    return () => withdraw('the sub-agent no longer asks')
  }

  /** The call is over: what still waits is withdrawn. */
  close(): void {
    this.#isClosed = true
    for (const withdraw of this.#waiting) withdraw('the call that asked is over')
  }

  /** Shows a request and lets it wait above. `answer` is called once, with `cancel` where it is withdrawn. */
  #wait(request: InputRequest, answer: (answer: InputAnswer) => void): (reason: string) => void {
    const { stop } = this.#call
    if (this.#above === undefined || this.#isClosed || stop.aborted) {
      queueMicrotask(() => answer({ action: 'cancel' }))
      return () => undefined
    }
    const { events } = this.#loop
    const { loopId: _loop, ...pending } = request
    const { inputId, toolCallId, toolName, subAgent } = pending
    const goOn = this.#call.pause()
    let leave: () => void = () => undefined
    let isShown = false
    const settle = (given: InputAnswer, reason?: string): void => {
      if (!this.#waiting.delete(withdraw)) return
      leave()
      forgetStop()
      goOn()
      const who = { inputId, toolCallId, toolName, ...(subAgent !== undefined && { subAgent }) }
      events.emit({ type: 'inputResolved', ...who, action: given.action, ...(reason !== undefined && { reason }) })
      answer(given)
    }
    const withdraw = (reason: string): void => settle({ action: 'cancel' }, reason)
    this.#waiting.add(withdraw)
    const forgetStop = stop.wait(() => withdraw('the call was stopped'))
    // Answered while it is being shown: told when it has been.
    let early: InputAnswer | undefined
    leave = this.#above.wait(request, (given) => {
      if (isShown) settle(given)
      else early = given
    })
    events.emit({ type: 'inputRequested', ...copyJson(pending) })
    isShown = true
    if (early !== undefined) settle(early)
    return withdraw
  }
}

/** What of a question is shown. Throws `ConfigError` `invalidOption` for what is none. */
function checkedQuestion(question: InputQuestion): Omit<PendingInput, 'inputId' | 'toolCallId' | 'toolName'> {
  const { message, schema, url, problem }: Partial<Record<keyof InputQuestion, unknown>> = Object(question)
  const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === 'string'
  const isSchema =
    schema === undefined || (typeof schema === 'object' && schema !== null && isPlain(schema) && jsonFault(schema, 'schema') === undefined)
  if (typeof message !== 'string' || !isText(url) || !isText(problem) || !isSchema) {
    throw new ConfigError('invalidOption', 'ctx.requestInput takes { message, schema?, url?, problem? }: texts, and a JSON Schema.')
  }
  return {
    message,
    ...(schema !== undefined && { schema: copyJson({ ...schema }) }),
    ...(url !== undefined && { url }),
    ...(problem !== undefined && { problem }),
  }
}
