import { ConfigError, errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, aText, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import { openaiCompatible } from '../openai/compatible.ts'

/**
 * An in-browser engine that the application provides, with OpenAI's chat completions interface, such as `MLCEngine` of WebLLM. This package
 * downloads nothing.
 */
export interface ChatEngine {
  readonly chat: { readonly completions: { create(request: never): unknown } }
  /** Stops the current response. */
  interruptGenerate?(): unknown
}

/** Options for `webLlm`: the model id, context window and media. */
export interface WebLlmOptions {
  /** Model id for the engine, also used in records. Default: `web-llm`, which uses the loaded model. */
  model?: string
  /** Context window in tokens. Default: 4,096, as in WebLLM's builds. */
  contextWindow?: number
  /** Supported media, such as `image/*`. Default: none. */
  media?: readonly string[]
}

const webLlmOptions = optionsOf<WebLlmOptions>({ model: aText, contextWindow: aPositiveNumber, media: listOf(aText) })

/**
 * Creates a model that runs on the application's in-browser engine, over the Chat Completions codec of `phi-core/providers/openai`.
 *
 * **Contract**
 * - Calls run one at a time, because an engine has a single state.
 * - An abort interrupts the engine. An engine error becomes a `ProviderError`.
 * - Throws `ConfigError` `invalidOption` if `engine` is not an engine, and for an invalid option.
 *
 * Source: docs/providers/browser-models.md
 *
 * @example
 * const engine = await CreateMLCEngine('Hermes-3-Llama-3.1-8B-q4f16_1-MLC', { initProgressCallback })
 * const agent = new Agent({ model: webLlm(engine) })
 */
export function webLlm(engine: ChatEngine, options: WebLlmOptions = {}): Model {
  checkOptions(options, webLlmOptions)
  if (typeof engine?.chat?.completions?.create !== 'function')
    throw new ConfigError('invalidOption', 'webLlm needs an engine with chat.completions.create, such as from CreateMLCEngine of WebLLM.')
  const { model, contextWindow = 4096, media = [] } = options
  return openaiCompatible(model ?? 'web-llm', {
    ...{ baseUrl: 'https://engine.invalid', provider: 'web-llm', contextWindow, capabilities: { media }, firstByteTimeoutMs: false },
    fetch: engineFetch(engine, model === undefined),
  })
}

/** Creates a `fetch` that sends requests to the engine and returns its chunks as server-sent events. */
function engineFetch(engine: ChatEngine, isUnnamed: boolean): typeof fetch {
  let last: Promise<unknown> = Promise.resolve()
  return async (input, init) => {
    const { model, ...request }: JsonObject = JSON.parse(await new Request(input, init).text())
    const signal = init?.signal ?? undefined
    const before = last
    let done: () => void = () => undefined
    last = new Promise<void>((resolve) => {
      done = resolve
    })
    await before
    try {
      signal?.throwIfAborted()
      const chunks = await completions(engine, isUnnamed ? request : { ...request, model: model ?? null })
      return new Response(asEvents(chunks, { engine, signal, done }), { headers: { 'content-type': 'text/event-stream' } })
    } catch (error) {
      done()
      if (signal?.aborted === true) throw signal.reason
      return Response.json({ error: { message: errorText(error) } }, { status: 400 })
    }
  }
}

async function completions(engine: ChatEngine, request: JsonObject): Promise<AsyncIterator<unknown>> {
  // Engine types vary by version. The output is validated like a server's output.
  const { completions: asked } = engine.chat
  const answer: unknown = await Reflect.apply(asked.create, asked, [request])
  const iterate: unknown = Object(answer)[Symbol.asyncIterator]
  if (typeof iterate !== 'function') throw new TypeError('The engine did not stream its response.')
  return iterate.call(answer)
}

interface Reading {
  engine: ChatEngine
  signal: AbortSignal | undefined
  done: () => void
}

function asEvents(chunks: AsyncIterator<unknown>, { engine, signal, done }: Reading): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const stop = (): void => {
    signal?.removeEventListener('abort', stop)
    engine.interruptGenerate?.()
    // An interrupted engine still finishes its response, and the next call must wait for it.
    void drain(chunks).finally(done)
  }
  signal?.addEventListener('abort', stop, { once: true })
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done: isOver, value } = await chunks.next()
        if (signal?.aborted === true) return
        controller.enqueue(encoder.encode(isOver === true ? 'data: [DONE]\n\n' : `data: ${JSON.stringify(value)}\n\n`))
        if (isOver !== true) return
        signal?.removeEventListener('abort', stop)
        done()
        controller.close()
      } catch (error) {
        signal?.removeEventListener('abort', stop)
        done()
        controller.enqueue(encoder.encode(`data: ${JSON.stringify({ error: { message: errorText(error) } })}\n\n`))
        controller.close()
      }
    },
    cancel: stop,
  })
}

/** Maximum chunks that an interrupted engine may still send. */
const maxChunksAfter = 2000

/** Reads an interrupted response to its end, up to a limit. */
async function drain(chunks: AsyncIterator<unknown>): Promise<void> {
  try {
    for (let left = maxChunksAfter; left > 0; left -= 1) if ((await chunks.next()).done === true) return
  } catch {
    // An error also ends the response.
  }
}
