import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { timerMs } from '../../src/base/timer.ts'
import type { McpRequestOptions } from '../../src/mcp/client-like.ts'

/** A call under way on whose behalf a server may ask somebody. */
interface AskingCall {
  caller: string | undefined
  ask: NonNullable<McpRequestOptions['onelicit']>
  /** Stops the clock of the call, and returns how to start it again. */
  pause(): () => void
}

/**
 * The calls of one connection, and what the server asks meanwhile.
 *
 * **Contract**
 * - A server does not say which call it asks for. Where all calls under way are those of one agent, its person is asked, on behalf of the newest; where they
 *   are those of several, nobody is, because one would read what is meant for the other.
 * - While somebody is asked, the clocks of all calls under way stand still: it may be any of them that waits.
 */
export class AskingCalls {
  readonly #calls = new Set<AskingCall>()

  /** What a call is to be sent with; its clock stands still while somebody is asked. `end` once it has its answer. */
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
    // The clock of the client cannot be stopped, so it gets none that could run out.
    return { options: { ...others, signal: controller.signal, timeout: timerMs(Infinity) }, end }
  }

  /** Asks whoever the calls under way are made for; undefined where that is nobody, or could be several. */
  async ask(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult | undefined> {
    let answer: ElicitResult | undefined
    for (;;) {
      const callers = new Set(Array.from(this.#calls, ({ caller }) => caller))
      const call = [...this.#calls].at(-1)
      if (call === undefined || callers.size !== 1) return answer
      const { action, content } = await this.pausing(() => call.ask(params, signal), signal)
      // What fits the form is flat: the server asked for nothing else.
      answer = { action, ...(content !== undefined && { content: content as NonNullable<ElicitResult['content']> }) }
      // A call that is over takes its question back; it was another one that the server asks for.
      if (action !== 'cancel' || signal.aborted || this.#calls.has(call)) return answer
    }
  }

  /** Stops the clocks of the calls under way until `work` has settled, or `signal` aborts. */
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
