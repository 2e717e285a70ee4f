import { Agent, type Model } from 'phi-core'
import { availability, chromeAi } from 'phi-core/providers/chrome-ai'
import { type ChatEngine, webLlm } from 'phi-core/providers/web-llm'

// #region chrome
/** The browser's own model where there is one, else another. */
export async function ownModel(other: Model, onDownload: (progress: { loaded: number }) => void): Promise<Model> {
  return (await availability()) === 'unavailable' ? other : chromeAi({ onDownload })
}
// #endregion chrome

// #region engine
/** `engine`: what `CreateMLCEngine('Hermes-3-Llama-3.1-8B-q4f16_1-MLC')` of `@mlc-ai/web-llm` resolves with. */
export function onEngine(engine: ChatEngine): Agent {
  return new Agent({ model: webLlm(engine, { contextWindow: 4096 }) })
}
// #endregion engine
