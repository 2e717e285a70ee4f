import { Agent, type Model } from 'phi-core'
import { availability, type ChatEngine, chromeAi, webLlm } from 'phi-core/browser'

// #region chrome
/** Returns the browser's built-in model if available, otherwise another model. */
export async function ownModel(other: Model, onDownload: (progress: { loaded: number }) => void): Promise<Model> {
  return (await availability()) === 'unavailable' ? other : chromeAi({ onDownload })
}
// #endregion chrome

// #region engine
/** `engine`: the result of `CreateMLCEngine('Hermes-3-Llama-3.1-8B-q4f16_1-MLC')` from `@mlc-ai/web-llm`. */
export function onEngine(engine: ChatEngine): Agent {
  return new Agent({ model: webLlm(engine, { contextWindow: 4096 }) })
}
// #endregion engine

// #region pipeline
/** Receives each piece of a response: the `callback_function` of a `TextStreamer`. */
interface Streamer {
  put(text: string): void
}
type Generator = (messages: object[], options: { streamer: Streamer; max_new_tokens: number }) => Promise<unknown>

/**
 * `generate`: your function that calls a transformers.js pipeline, `pipeline('text-generation', …)`, with a `TextStreamer` that calls `put`. `stop` interrupts its `InterruptableStoppingCriteria`.
 */
export function onPipeline(generate: Generator, stop: () => void): Agent {
  async function* create({ messages, max_completion_tokens: most = 1024 }: { messages: object[]; max_completion_tokens?: number }) {
    const pieces = new TransformStream<string, string>()
    const writer = pieces.writable.getWriter()
    const put = (text: string) => void writer.write(text)
    generate(messages, { streamer: { put }, max_new_tokens: most }).then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    )
    for await (const content of pieces.readable) yield { choices: [{ index: 0, delta: { content } }] }
    yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  }
  return new Agent({ model: webLlm({ chat: { completions: { create } }, interruptGenerate: stop }) })
}
// #endregion pipeline
