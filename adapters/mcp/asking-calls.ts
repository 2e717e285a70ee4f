import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { timerMs } from '../../src/base/timer.ts'
import type { McpRequestOptions } from '../../src/mcp/client-like.ts'

/** An active call during which a server may send elicitation requests. */
interface AskingCall {
  caller: string | undefined
  ask: NonNullable<McpRequestOptions['onelicit']>
  /** Pauses the call's timeout. Returns a function that resumes it. */
  pause(): () => void
}

/**
 * Tracks one connection's active calls and routes elicitation requests to their user.
 *
 * **Contract**
 * - A server does not say which call its request belongs to. If all active calls belong to one agent, the newest call forwards the request
 *   to that agent's user. If they belong to several agents, no call forwards it, because it could reach the wrong user.
 * - Pauses the timeouts of all active calls during a request, because any of them may be waiting.
 */
export class AskingCalls {
  readonly #calls = new Set<AskingCall>()

  /** Returns request options for a call whose timeout pauses during elicitation. Call `end` when the call has settled. */
  begin({ onelicit, caller, isRepeatable: _, pause: pauseCaller, timeout = 60_000, signal, ...others }: McpRequestOptions): {
    options: McpRequestOptions
    end(): void
  } {
    if (onelicit === undefined) return { options: { ...others, timeout, ...(signal && { signal }) }, end: () => undefined }
    const controller = new AbortController()
    const stop = () => controller.abort(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    let timer: ReturnType<typeof setTimeout> | undefined
    const start = () => {
      timer = setTimeout(() => controller.abort(`Request timed out after ${timeout} ms`), timerMs(timeout))
    }
    let asking = 0
    const pause = () => {
      asking += 1
      clearTimeout(timer)
      const goOn = pauseCaller?.()
      return () => {
        goOn?.()
        asking -= 1
        if (asking === 0 && this.#calls.has(call)) start()
      }
    }
    const call: AskingCall = { caller, ask: onelicit, pause }
    this.#calls.add(call)
    start()
    const end = () => {
      this.#calls.delete(call)
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    // The MCP client cannot pause its request timeout, so disable it and use our own timer.
    return { options: { ...others, signal: controller.signal, timeout: timerMs(Infinity) }, end }
  }

  /** Forwards an elicitation request to the user of the active calls. Returns `undefined` if no user or more than one matches. */
  async ask(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult | undefined> {
    let answer: ElicitResult | undefined
    for (;;) {
      const callers = new Set(Array.from(this.#calls, ({ caller }) => caller))
      const call = [...this.#calls].at(-1)
      if (call === undefined || callers.size !== 1) return answer
      const { action, content } = await this.pausing(() => call.ask(params, signal), signal)
      // Elicitation forms are flat, so every valid value fits the result type.
      answer = { action, ...(content !== undefined && { content: content as NonNullable<ElicitResult['content']> }) }
      // When a call ends, it cancels its request. The server sent this request for another call, so forward it again.
      if (action !== 'cancel' || signal.aborted || this.#calls.has(call)) return answer
    }
  }

  /** Pauses the timeouts of the active calls until `work` has settled, or `signal` aborts. */
  async pausing<T>(work: () => Promise<T> | T, signal: AbortSignal): Promise<T> {
    const paused = Array.from(this.#calls, (call) => call.pause())
    const goOn = () => {
      for (const start of paused.splice(0)) start()
    }
    signal.addEventListener('abort', goOn, { once: true })
    try {
      return await work()
    } finally {
      signal.removeEventListener('abort', goOn)
      goOn()
    }
  }
}
